import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { FRAME, RAMP, REFILL, type FromQueue, type ToQueue } from "./queue";

// What an audio thread offers.
interface Processor {
  port: { onmessage(e: { data: ToQueue }): void };
  process(inputs: Float32Array[][], outputs: Float32Array[][]): boolean;
}
let make: new () => Processor;
let sent: FromQueue[] = [];
Object.assign(globalThis, {
  currentTime: 0,
  AudioWorkletProcessor: class {
    port = { postMessage: (m: FromQueue) => void sent.push(m) };
  },
  registerProcessor: (_: string, made: new () => Processor) => (make = made),
});
await import("./worklet");

let queue: Processor;
beforeEach(() => {
  sent = [];
  queue = new make();
});

const tell = (data: ToQueue) => queue.port.onmessage({ data });
const loud = (n: number) => new Int16Array(n).fill(16384).buffer;
function play(n: number): Float32Array {
  const out = new Float32Array(n);
  queue.process([], [[out]]);
  return out;
}
const ended = () => sent.find((m) => m.type === "done" || m.type === "stopped");

test("a take starts with its first frame and plays each sample once", () => {
  tell({ type: "begin", take: 1 });
  tell({ type: "audio", take: 1, samples: loud(FRAME - 1) });
  assert.ok(play(128).every((s) => s === 0)); // one sample below a frame
  tell({ type: "audio", take: 1, samples: loud(1) });
  tell({ type: "audio", take: 1, samples: loud(FRAME) });
  tell({ type: "end", take: 1 });
  const heard = play(2 * FRAME + 128);
  assert.equal(sent[0]?.type, "first");
  assert.ok(heard[0]! > 0 && heard[0]! < 0.01); // fades in
  assert.equal(heard[RAMP]!, 0.5);
  assert.deepEqual(
    { ...ended(), tap: undefined },
    { type: "done", take: 1, played: 2 * FRAME, underruns: 0, tap: undefined },
  );
});

test("after an underrun more is waited for, and the sound has no jump", () => {
  tell({ type: "begin", take: 1 });
  tell({ type: "audio", take: 1, samples: loud(FRAME) });
  const first = play(FRAME + 128);
  assert.ok(first[FRAME - 1]! < 0.01); // faded out
  tell({ type: "audio", take: 1, samples: loud(REFILL - 1) });
  assert.ok(play(128).every((s) => s === 0));
  tell({ type: "audio", take: 1, samples: loud(1) });
  assert.ok(play(128).some((s) => s > 0));
  assert.ok(sent.some((m) => m.type === "progress" && m.underruns === 1));
});

test("stop fades within 5 ms and says what was played", () => {
  tell({ type: "begin", take: 1 });
  tell({ type: "audio", take: 1, samples: loud(2 * FRAME) });
  play(480);
  tell({ type: "stop", take: 1 });
  const tail = play(480);
  assert.ok(tail.slice(RAMP + 1).every((s) => s === 0));
  assert.equal(ended()?.type, "stopped");
});

test("messages of a take that was replaced are ignored", () => {
  tell({ type: "begin", take: 1 });
  tell({ type: "begin", take: 2 });
  tell({ type: "audio", take: 1, samples: loud(FRAME) });
  tell({ type: "end", take: 1 });
  assert.ok(play(128).every((s) => s === 0));
  assert.equal(ended(), undefined);
});

test("a take without a sample ends at once", () => {
  tell({ type: "begin", take: 1 });
  tell({ type: "end", take: 1 });
  assert.deepEqual(sent, [{ type: "done", take: 1, played: 0, underruns: 0 }]);
});
