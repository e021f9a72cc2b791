import assert from "node:assert/strict";
import { test } from "node:test";
import { body, digitsOf, isSeed, newID, newSeed, type Settings } from "./wire";

const settings: Settings = { voice: "raj", temperature: 0.3, seed: "", enDigits: false, raw: false };

test("a seed is an integer of 64 bits", () => {
  for (const s of ["", "0", "-1", "9223372036854775807", "-9223372036854775808"]) assert.ok(isSeed(s), s);
  for (const s of ["9223372036854775808", "-9223372036854775809", "01", "1.5", "1e3", "+1", " 1", "-", "१"])
    assert.ok(!isSeed(s), s);
});

test("a seed reaches the server digit for digit", () => {
  const sent = body('say "seed":1', { ...settings, seed: "9007199254740993" }); // no number of JavaScript
  assert.match(sent, /,"seed":9007199254740993}$/);
  assert.equal(JSON.parse(sent).text, 'say "seed":1');
  assert.equal(digitsOf(sent, "seed"), "9007199254740993");
});

test("only what differs from the defaults is sent", () => {
  assert.deepEqual(JSON.parse(body("a", settings)), { text: "a", voice: "raj", temperature: 0.3 });
  assert.deepEqual(JSON.parse(body("a", { ...settings, enDigits: true, raw: true }, { stream: false })), {
    text: "a",
    voice: "raj",
    temperature: 0.3,
    en_digits: true,
    raw: true,
    stream: false,
  });
});

test("drawn seeds and identifiers have their form", () => {
  for (let i = 0; i < 1000; i++) {
    const seed = newSeed();
    assert.ok(isSeed(seed) && Number.isSafeInteger(Number(seed)), seed);
  }
  assert.match(newID(), /^[0-9a-f]{32}$/);
  assert.notEqual(newID(), newID());
});
