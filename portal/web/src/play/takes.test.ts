import assert from "node:assert/strict";
import { test } from "node:test";
import { newFigures } from "./figures";
import { kept, MAX_BYTES, MAX_TAKES, wavOf, type Take } from "./takes";

const take = (number: number, bytes: number): Take => ({
  id: String(number),
  number,
  text: "",
  settings: { voice: "raj", temperature: 0, seed: "1", enDigits: false, raw: false },
  figures: newFigures(),
  stopped: false,
  blocks: [new ArrayBuffer(bytes)],
  chunkStarts: [0],
});

test("the newest takes are kept, up to their number and size", () => {
  const many = Array.from({ length: MAX_TAKES + 1 }, (_, i) => take(i, 2));
  assert.equal(kept(many).length, MAX_TAKES);
  const half = MAX_BYTES / 2;
  assert.equal(kept([take(2, half), take(1, half)]).length, 2);
  assert.equal(kept([take(2, half), take(1, half + 2)]).length, 1);
  assert.equal(kept([take(1, MAX_BYTES + 2)]).length, 1); // the newest, whatever its size
});

test("a download is a WAV file of one channel at 24 kHz", async () => {
  const file = await wavOf(take(1, 100)).arrayBuffer();
  const v = new DataView(file);
  const name = (at: number) => String.fromCharCode(...new Uint8Array(file, at, 4));
  assert.deepEqual([name(0), name(8), name(12), name(36)], ["RIFF", "WAVE", "fmt ", "data"]);
  assert.deepEqual(
    [file.byteLength, v.getUint32(4, true), v.getUint32(24, true), v.getUint32(28, true), v.getUint32(40, true)],
    [144, 136, 24000, 48000, 100],
  );
});
