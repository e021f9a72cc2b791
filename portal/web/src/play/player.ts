// Plays samples as they come. Where the page has AudioWorklet (https, localhost) they go to a queue in the audio thread; elsewhere they
// are scheduled as buffers, which takes a little longer to start and is otherwise the same.

import { FRAME, RAMP, RATE, REFILL, type FromQueue, type ToQueue } from "./queue";

export type PlayerEvent =
  | { type: "first"; take: number; at: number; latencyMs: number } // at: performance.now() when the first sample left
  | { type: "progress"; take: number; played: number; queued: number; underruns: number }
  | { type: "done" | "stopped"; take: number; played: number; underruns: number };

/** A sink of samples. Both kinds count what they played in samples. */
interface Output {
  begin(take: number): void;
  push(samples: ArrayBuffer): void;
  end(): void;
  stop(): void;
}

export class Player {
  private context: AudioContext | undefined;
  private output: Output | undefined;
  private warming: Promise<void> | undefined;
  private take = 0;

  /** tell hears every event; worklet is the address of the module of worklet.ts. */
  constructor(
    private readonly worklet: string,
    private readonly tell: (e: PlayerEvent) => void,
  ) {}

  /** Call in the first pointerup or keydown of the page: browsers let a context run only then, and it takes up to 100 ms. */
  warm(): Promise<void> {
    this.warming ??= this.make().catch((err) => {
      this.warming = undefined;
      throw err;
    });
    return this.warming;
  }

  /** warmed is whether sound can be given out without waiting. */
  get warmed(): boolean {
    return this.output !== undefined && this.running;
  }

  private async make() {
    const context = new AudioContext({ sampleRate: RATE, latencyHint: "interactive" });
    this.context = context;
    const resumed = context.resume();
    this.output = (await this.queue(context)) ?? new Scheduled(context, this.tell);
    await Promise.race([resumed, new Promise((r) => setTimeout(r, 500))]); // without a gesture resume never answers
  }

  private async queue(context: AudioContext): Promise<Output | undefined> {
    if (!context.audioWorklet || context.sampleRate !== RATE) return undefined;
    try {
      await context.audioWorklet.addModule(this.worklet);
      return new Queued(context, this.tell);
    } catch {
      return undefined; // the module did not load; buffers still play
    }
  }

  /** running is false while the system holds the sound, as for a call on a phone: show a way to resume. */
  get running(): boolean {
    return this.context?.state === "running";
  }

  get scheduled(): boolean {
    return this.output instanceof Scheduled;
  }

  resume(): Promise<void> {
    return this.context?.resume() ?? Promise.resolve();
  }

  /** Begins a take and answers its number; what was playing ends without an event. */
  begin(): number {
    this.take++;
    if (this.context && !this.running) void this.context.resume();
    this.output?.begin(this.take);
    return this.take;
  }

  /** Takes pcm16. The bytes are copied, so the caller keeps its own. */
  push(take: number, pcm: ArrayBuffer) {
    if (take === this.take) this.output?.push(pcm.slice(0, pcm.byteLength & ~1));
  }

  end(take: number) {
    if (take === this.take) this.output?.end();
  }

  stop() {
    this.output?.stop();
  }

  close() {
    void this.context?.close();
    this.context = this.output = this.warming = undefined;
  }
}

function latencyMs(context: AudioContext): number {
  return (context.outputLatency || context.baseLatency || 0) * 1000;
}

class Queued implements Output {
  private readonly node: AudioWorkletNode;
  private take = 0;

  constructor(context: AudioContext, tell: (e: PlayerEvent) => void) {
    this.node = new AudioWorkletNode(context, "swar-queue", { numberOfInputs: 0, outputChannelCount: [1] });
    this.node.port.onmessage = ({ data }: MessageEvent<FromQueue>) => {
      if (data.take !== this.take) return;
      if (data.type !== "first") return tell(data);
      const at = Math.min(data.clock - performance.timeOrigin, performance.now()); // its thread has only the wall clock
      tell({ type: "first", take: data.take, at, latencyMs: latencyMs(context) });
    };
    this.node.connect(context.destination);
  }

  begin(take: number) {
    this.take = take;
    this.send({ type: "begin", take });
  }

  push(samples: ArrayBuffer) {
    this.send({ type: "audio", take: this.take, samples }, [samples]);
  }

  end() {
    this.send({ type: "end", take: this.take });
  }

  stop() {
    this.send({ type: "stop", take: this.take });
  }

  private send(m: ToQueue, transfer: Transferable[] = []) {
    this.node.port.postMessage(m, transfer);
  }
}

const AHEAD = 0.02; // seconds between scheduling and sounding; less was late on a busy page

class Scheduled implements Output {
  private take = 0;
  private gain: GainNode | undefined;
  private waiting: Int16Array[] = [];
  private waits = 0; // samples in waiting
  private given = 0; // samples scheduled so far
  private until = 0; // audio clock at which the last scheduled sample ends
  private underruns = 0;
  private running = false;
  private ended = false;
  private first = 0; // audio clock of the first sample, until it was told
  private timer = 0;

  constructor(
    private readonly context: AudioContext,
    private readonly tell: (e: PlayerEvent) => void,
  ) {}

  begin(take: number) {
    this.silence();
    Object.assign(this, { take, waiting: [], waits: 0, given: 0, until: 0, underruns: 0, first: 0 });
    this.running = this.ended = false;
    this.gain = this.context.createGain();
    this.gain.connect(this.context.destination);
    this.timer = window.setInterval(() => this.look(), 20);
  }

  push(samples: ArrayBuffer) {
    if (!this.gain || this.ended) return;
    this.waiting.push(new Int16Array(samples));
    this.waits += samples.byteLength / 2;
    this.schedule();
  }

  end() {
    this.ended = true;
    this.schedule();
  }

  stop() {
    if (!this.gain) return;
    const played = this.played();
    this.silence();
    this.tell({ type: "stopped", take: this.take, played, underruns: this.underruns });
  }

  private schedule() {
    const enough = this.running || this.ended || this.waits >= (this.given === 0 ? FRAME : REFILL);
    if (!enough || !this.gain) return;
    for (const block of this.waiting) this.one(block, this.gain);
    this.waiting = [];
    this.waits = 0;
  }

  private one(block: Int16Array, gain: GainNode) {
    if (block.length === 0) return;
    if (!this.running) this.fadeIn(gain);
    const buffer = this.context.createBuffer(1, block.length, RATE);
    buffer.copyToChannel(
      Float32Array.from(block, (s) => s / 32768),
      0,
    );
    const source = this.context.createBufferSource();
    source.buffer = buffer;
    source.connect(gain);
    source.start(this.until);
    this.until += block.length / RATE;
    this.given += block.length;
  }

  private fadeIn(gain: GainNode) {
    this.until = Math.max(this.until, this.context.currentTime + AHEAD);
    gain.gain.setValueAtTime(0, this.until);
    gain.gain.linearRampToValueAtTime(1, this.until + RAMP / RATE);
    if (this.given === 0) this.first = this.until;
    this.running = true;
  }

  private played(): number {
    const left = Math.max(0, this.until - this.context.currentTime) * RATE;
    return Math.max(0, Math.round(this.given - left));
  }

  private look() {
    const now = this.context.currentTime;
    if (this.first > 0 && now >= this.first) {
      const at = performance.now() - (now - this.first) * 1000;
      this.tell({ type: "first", take: this.take, at, latencyMs: latencyMs(this.context) });
      this.first = 0;
    }
    const played = this.played();
    this.tell({
      type: "progress",
      take: this.take,
      played,
      queued: this.given - played + this.waits,
      underruns: this.underruns,
    });
    if (this.waits > 0 || now < this.until) return;
    if (this.ended) this.finish(played);
    else if (this.running) {
      this.running = false;
      this.underruns++;
    }
  }

  private finish(played: number) {
    this.silence();
    this.tell({ type: "done", take: this.take, played, underruns: this.underruns });
  }

  private silence() {
    window.clearInterval(this.timer);
    const { gain, context } = this;
    this.gain = undefined;
    if (!gain) return;
    gain.gain.cancelScheduledValues(context.currentTime);
    gain.gain.setTargetAtTime(0, context.currentTime, RAMP / RATE / 3); // a twentieth is left after 5 ms
    window.setTimeout(() => gain.disconnect(), 50);
  }
}
