import assert from "node:assert/strict";
import { test } from "node:test";
import { after, arrived, newFigures, paise, progressed } from "./figures";
import type { SocketEvent } from "./socket";

const event = (e: Record<string, unknown>) => e as unknown as SocketEvent;

test("chunks add up, those from the cache apart", () => {
  let f = newFigures();
  f = after(f, event({ type: "start", queue_ms: 3 }));
  f = after(f, event({ type: "chunk_end", prefill_ms: 40, prefill_cached: true }));
  assert.equal(f.prefillCached, true);
  f = after(f, event({ type: "chunk_end", prefill_ms: 60, prefill_cached: false }));
  f = after(f, event({ type: "end", rtf: 0.1, billed_frames: 25 }));
  assert.deepEqual(
    [f.queueMs, f.prefillCached, f.prefillMs, f.savedMs, f.rtf, f.billedFrames],
    [3, false, 60, 40, 0.1, 25],
  );
});

test("events of another kind or with other types change nothing", () => {
  const f = newFigures();
  assert.deepEqual(after(f, event({ type: "from next year" })), f);
  assert.equal(after(f, event({ type: "first_audio_ms", ms: "63" })).serverMs, undefined);
});

test("bytes are frames of 80 ms once they are whole", () => {
  assert.equal(arrived(newFigures(), 3839).frames, 0);
  assert.equal(arrived(arrived(newFigures(), 3839), 1).frames, 1);
  assert.equal(progressed(newFigures(), 12000, 2).bufferS, 0.5);
});

test("a minute costs 20 paise", () => {
  assert.equal(paise(750), "20.00");
  assert.equal(paise(1), "0.03");
  assert.equal(paise(0), "0.00");
});
