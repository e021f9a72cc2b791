// The queue between the socket and the loudspeaker. It runs in the audio thread, plays samples in the order in which they came and counts
// them; it never skips any. This is an entry of its own: an AudioWorklet is loaded as a module, by its address.

import { FRAME, RAMP, REFILL, type FromQueue, type ToQueue } from "./queue";

declare const currentTime: number;
declare function registerProcessor(name: string, ctor: new () => AudioWorkletProcessor): void;
declare abstract class AudioWorkletProcessor {
  readonly port: MessagePort;
  abstract process(inputs: Float32Array[][], outputs: Float32Array[][]): boolean;
}

const REPORT = 480; // samples between two reports: 20 ms, as often as a page can draw

class Queue extends AudioWorkletProcessor {
  private take = -1;
  private blocks: Int16Array[] = [];
  private at = 0; // place in the first block
  private queued = 0;
  private played = 0;
  private underruns = 0;
  private gain = 0;
  private running = false;
  private ended = false;
  private stopping = false;
  private reported = 0;
  private tap: Int16Array[] | undefined; // what was played, for whoever wants to compare it

  constructor() {
    super();
    this.port.onmessage = ({ data }: MessageEvent<ToQueue>) => this.hear(data);
  }

  private hear(m: ToQueue) {
    if (m.type === "tap") this.tap = [];
    else if (m.type === "begin") this.begin(m.take);
    else if (m.take !== this.take)
      return; // of a take that was replaced
    else if (m.type === "audio") this.push(new Int16Array(m.samples));
    else if (m.type === "end") this.end();
    else if (m.type === "stop") this.stop();
  }

  private begin(take: number) {
    Object.assign(this, { take, blocks: [], at: 0, queued: 0, played: 0, underruns: 0, gain: 0, reported: 0 });
    this.running = this.ended = this.stopping = false;
    if (this.tap) this.tap = [];
  }

  private push(samples: Int16Array) {
    if (this.stopping || this.ended || samples.length === 0) return;
    this.blocks.push(samples);
    this.queued += samples.length;
  }

  private end() {
    this.ended = true;
    if (!this.running && this.queued === 0) this.finish("done");
  }

  private stop() {
    this.stopping = true;
    if (!this.running) this.finish("stopped");
  }

  process(_: Float32Array[][], outputs: Float32Array[][]): boolean {
    const out = outputs[0]?.[0];
    if (!out || this.take < 0) return true;
    if (!this.running && this.mayRun()) this.run();
    if (this.running) this.fill(out);
    return true;
  }

  // The first frame starts a take at once. After an underrun more is waited for, or the next one would follow straight away.
  private mayRun(): boolean {
    if (this.stopping || this.queued === 0) return false;
    return this.ended || this.queued >= (this.played === 0 ? FRAME : REFILL);
  }

  private run() {
    this.running = true;
    if (this.played === 0) this.send({ type: "first", take: this.take, at: currentTime, clock: Date.now() });
  }

  private fill(out: Float32Array) {
    for (let i = 0; i < out.length; i++) {
      const next = this.blocks[0];
      if (!next) return this.ranOut();
      const s = next[this.at++]!;
      if (this.at === next.length) this.drop(next);
      this.queued--;
      this.played++;
      out[i] = (s / 32768) * this.step();
      if (this.stopping && this.gain === 0) return this.finish("stopped");
    }
    if (this.played - this.reported >= REPORT) this.report();
  }

  private drop(block: Int16Array) {
    this.tap?.push(block);
    this.blocks.shift();
    this.at = 0;
  }

  // A jump of the signal clicks, so the sound fades in 5 ms: before it stops, and over the last samples where more is missing.
  private step(): number {
    const low = !this.ended && this.queued < RAMP;
    this.gain += this.stopping || low ? -1 / RAMP : 1 / RAMP;
    this.gain = this.gain > 1 ? 1 : this.gain < 1e-6 ? 0 : this.gain;
    return this.gain;
  }

  private ranOut() {
    if (this.stopping) return this.finish("stopped");
    if (this.ended) return this.finish("done");
    this.running = false;
    this.gain = 0;
    this.underruns++;
    this.report();
  }

  private report() {
    this.reported = this.played;
    this.send({
      type: "progress",
      take: this.take,
      played: this.played,
      queued: this.queued,
      underruns: this.underruns,
    });
  }

  private finish(type: "done" | "stopped") {
    const tap = this.tap && this.joined();
    this.send({ type, take: this.take, played: this.played, underruns: this.underruns, ...(tap && { tap }) });
    this.blocks = [];
    this.queued = 0;
    this.running = false;
    this.take = -1;
  }

  private joined(): Int16Array {
    const partial = this.blocks[0]?.subarray(0, this.at);
    const parts = partial ? [...this.tap!, partial] : this.tap!;
    const all = new Int16Array(parts.reduce((n, p) => n + p.length, 0));
    parts.reduce((n, p) => (all.set(p, n), n + p.length), 0);
    return all;
  }

  private send(m: FromQueue) {
    this.port.postMessage(m);
  }
}

registerProcessor("swar-queue", Queue);
