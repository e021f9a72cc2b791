import assert from "node:assert/strict";
import { test } from "node:test";
import { fromFragment, toFragment } from "./link";

test("a link holds the text and the settings", () => {
  const settings = { voice: "raj", temperature: 0, seed: "-7", enDigits: true, raw: true };
  for (const text of ["", "₹500 & 10% #1 + 2 = 🙂\nक्या?", "a".repeat(4000)])
    assert.deepEqual(fromFragment(toFragment(text, settings)), { text, settings });
});

test("fields that make no sense are left out", () => {
  for (const bad of ["#temperature=2.1", "#temperature=-1", "#temperature=x", "#seed=1e9", "#en_digits=yes", "#voice="])
    assert.deepEqual(fromFragment(bad), { settings: {} }, bad);
  assert.deepEqual(fromFragment("#temperature=2&seed=9"), { settings: { temperature: 2, seed: "9" } });
  assert.equal(fromFragment("#voice=" + "v".repeat(500)).settings.voice?.length, 128);
  assert.equal(fromFragment("#text=" + "t".repeat(30_000)).text?.length, 20_000);
});
