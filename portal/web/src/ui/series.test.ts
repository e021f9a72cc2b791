import assert from "node:assert/strict";
import { test } from "node:test";
import { colour } from "./series";

test("eight series and what is left have a colour each", () => {
  const all = Array.from({ length: 9 }, (_, i) => colour(i, i === 8));
  assert.equal(new Set(all).size, 9, all.join());
  assert.equal(colour(4), "c6", "the fifth of five keys is not what is left");
  assert.equal(colour(2, true), "c5", "what is left of few series is grey");
  assert.equal(colour(9), "c5");
});
