import assert from "node:assert/strict";
import { test } from "node:test";
import { BLOCK, layOut, Peaks } from "./wave";

test("peaks do not depend on how the samples are cut", () => {
  const samples = Int16Array.from({ length: 3 * BLOCK + 7 }, (_, i) => (i % 2 ? -1 : 1) * i);
  const peaksOf = (size: number) => {
    const peaks = new Peaks();
    for (let at = 0; at < samples.length; at += size) peaks.add(samples.slice(at, at + size).buffer);
    peaks.end();
    return peaks.values;
  };
  const whole = peaksOf(samples.length);
  assert.equal(whole.length, 4); // the last is of seven samples
  for (const size of [1, 7, BLOCK - 1, BLOCK, BLOCK + 1]) assert.deepEqual(peaksOf(size), whole);
  const quietest = new Peaks();
  quietest.add(Int16Array.of(-32768).buffer);
  quietest.end();
  assert.deepEqual(quietest.values, [1]);
});

test("chunks lie side by side and fill at most the width", () => {
  for (const starts of [[], [0], [0, 96_000], [0, 48_000, 144_000]]) {
    const places = layOut({ starts, samples: 240_000 }, 600);
    assert.equal(places.length, Math.max(1, starts.length));
    assert.equal(places[0]!.from, 0);
    places.reduce((end, p) => (assert.ok(p.x >= end && p.width > 0), p.x + p.width), 0);
    const last = places.at(-1)!;
    assert.ok(last.to === 240_000 && Math.abs(last.x + last.width - 600) < 1e-9);
  }
});

test("a short take does not fill the width, and one without samples has no place", () => {
  assert.ok(layOut({ starts: [0], samples: 24_000 }, 600)[0]!.width === 150); // 1 of 4 seconds
  assert.deepEqual(layOut({ starts: [0], samples: 0 }, 600), []);
});
