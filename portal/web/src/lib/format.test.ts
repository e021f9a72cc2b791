import assert from "node:assert/strict";
import { test } from "node:test";

Object.defineProperty(globalThis, "localStorage", { value: { getItem: () => null } });
Object.defineProperty(globalThis, "navigator", { value: { languages: ["en-IN"] }, configurable: true });
const { ago, DAY, dayOf, dayStart, exact, isoDay, ms, number, rupees } = await import("./format");
const { language } = await import("./language");

test("numbers are grouped as in India", () => {
  assert.equal(number(9_99_999), "9,99,999");
  assert.equal(number(12_34_567.5, 2), "12,34,567.50");
  assert.equal(rupees(1), "₹0.01");
  assert.equal(rupees(1_00_000_00), "₹1,00,000.00");
});

test("milliseconds have a digit behind the point below ten", () => {
  assert.deepEqual([0, 9.94, 9.96, 10.4, 1234, null, undefined].map(ms), [
    "0.0 ms",
    "9.9 ms",
    "10.0 ms",
    "10 ms",
    "1,234 ms",
    "–",
    "–",
  ]);
});

test("a day is one of Asia/Kolkata", () => {
  const midnight = Date.parse("2026-11-27T18:30:00Z"); // 00:00 on the 28th
  assert.equal(isoDay(midnight - 1), "2026-11-27");
  assert.equal(isoDay(midnight), "2026-11-28");
  assert.equal(dayOf("2026-11-28"), midnight);
  assert.equal(dayStart(midnight), midnight);
  assert.equal(dayStart(midnight - 1), midnight - DAY);
  for (const bad of ["", "28-11-2026", "2026-1-1", "2026-13-01"]) assert.ok(Number.isNaN(dayOf(bad)), bad);
});

test("what is recent is said in words, in the language of the page", () => {
  const now = Date.parse("2026-11-28T12:00:00Z");
  const before = (s: number) => ago(now - s * 1000, now);
  assert.equal(before(44), "now");
  assert.match(before(45), /^1 min.* ago$/); // the short form differs between versions of ICU
  assert.match(before(3600), /^1 h.* ago$/);
  assert.equal(before(86_400), "27 Nov 2026");
  language.value = "hi";
  assert.match(before(3600), /^1 घं.* पहले$/);
  assert.match(exact(now), /28 नव.* 2026/);
});
