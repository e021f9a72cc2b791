/** Playing in a page. */

import type { SwarEvent } from "./events.js";
import { wavHeader } from "./take.js";

const rate = 24_000;
const ahead = 10; // seconds that a player holds, beyond which play reads no more

/** The source of the worklet, for pages whose policy forbids scripts from blobs: serve it, and say where in `worklet`. */
export const workletSource = `
registerProcessor("swar-player", class extends AudioWorkletProcessor {
  queue = []; at = 0; played = 0; told = 0; ending = false; stopping = false;
  constructor() {
    super();
    this.port.onmessage = ({ data }) => {
      if (data === "stop") this.stopping = true;
      else if (data === "end") this.ending = true;
      else this.queue.push(data);
    };
  }
  process(_, [[out]]) {
    let n = 0;
    while (n < out.length && this.queue.length) {
      const head = this.queue[0], some = head.subarray(this.at, this.at + out.length - n);
      out.set(some, n);
      n += some.length;
      this.at += some.length;
      if (this.at === head.length) { this.queue.shift(); this.at = 0; }
    }
    this.played += n;
    if (this.stopping) for (let i = 0; i < n; i++) out[i] *= 1 - (i + 1) / n; // no click
    const over = this.stopping || (this.ending && !this.queue.length);
    if (over || this.played - this.told > ${rate / 20}) this.port.postMessage({ played: this.told = this.played, over });
    return !over;
  }
});
`;

export interface PlayOptions {
  /** Of 24 kHz; otherwise the player makes one. Make it where a click or a key press allows sound. */
  context?: AudioContext;
  /** Where the sound goes; the loudspeaker by default. */
  output?: AudioNode;
  /** The address of a file with `workletSource`. */
  worklet?: string;
}

/** Plays samples as they are pushed. */
export class Player {
  /** Resolves when all has sounded, or was stopped; rejects where the source failed. */
  readonly done: Promise<void>;
  /** Seconds that have been played. */
  played = 0;
  #pushed = 0; // seconds
  #node: AudioWorkletNode;
  #ended = false;
  #finish!: (e?: unknown) => void;
  #room: (() => void) | undefined;
  /** @internal Called when it stops. */
  onstop: (() => void) | undefined;

  private constructor(node: AudioWorkletNode, close: () => unknown) {
    this.#node = node;
    this.done = new Promise<void>((resolve, reject) => {
      this.#finish = (e) => {
        this.#ended = true;
        this.#room?.();
        node.disconnect();
        close();
        if (e === undefined) resolve();
        else reject(e as Error);
      };
    });
    this.done.catch(() => {}); // whoever wants to know awaits it
    node.port.onmessage = ({ data }: MessageEvent<{ played: number; over: boolean }>) => {
      this.played = data.played / rate;
      if (this.buffered < ahead) this.#room?.();
      if (data.over) this.#finish();
    };
  }

  /** Makes a player. Call it where a click or a key press allows sound. */
  static async open(options: PlayOptions = {}): Promise<Player> {
    const context = options.context ?? new AudioContext({ sampleRate: rate, latencyHint: "interactive" });
    if (context.sampleRate !== rate) throw new RangeError(`the AudioContext has ${context.sampleRate} Hz; make it with { sampleRate: ${rate} }`);
    const resumed = context.resume();
    await addWorklet(context, options.worklet);
    await resumed;
    const node = new AudioWorkletNode(context, "swar-player", { numberOfInputs: 0, outputChannelCount: [1] });
    node.connect(options.output ?? context.destination);
    return new Player(node, () => options.context ?? context.close());
  }

  /** Seconds that are yet to be played. */
  get buffered(): number {
    return this.#pushed - this.played;
  }

  get stopped(): boolean {
    return this.#ended;
  }

  /** Adds samples: 16 bits, little-endian, 24 kHz. */
  push(pcm: Uint8Array): void {
    if (this.#ended) return;
    const view = new DataView(pcm.buffer, pcm.byteOffset, pcm.length);
    const samples = Float32Array.from({ length: pcm.length >> 1 }, (_, i) => view.getInt16(2 * i, true) / 32768);
    this.#pushed += samples.length / rate;
    if (samples.length) this.#node.port.postMessage(samples, [samples.buffer]);
  }

  /** Waits until the player wants more. */
  async room(): Promise<void> {
    if (!this.#ended && this.buffered >= ahead) await new Promise<void>((resolve) => (this.#room = resolve));
  }

  /** Says that nothing more is pushed. */
  end(): void {
    if (!this.#ended) this.#node.port.postMessage("end");
  }

  /** Is silent within 20 ms, stops the server if it still speaks, and returns the seconds that were played. */
  stop(): number {
    if (!this.#ended) {
      this.#ended = true;
      this.#node.port.postMessage("stop");
      this.#room?.();
      this.onstop?.();
    }
    return this.played;
  }

  /** @internal Ends with an error. */
  fail(e: unknown): void {
    if (!this.#ended) this.#finish(e);
  }
}

const added = new WeakMap<AudioContext, Promise<void>>();

function addWorklet(context: AudioContext, url?: string): Promise<void> {
  let adding = added.get(context);
  if (!adding) {
    const own = url ?? URL.createObjectURL(new Blob([workletSource], { type: "text/javascript" }));
    adding = context.audioWorklet.addModule(own);
    added.set(context, adding);
  }
  return adding;
}

/** What can be played: a Take, an Utterance, or the events of `words`. Utterances and takes are stopped with the player. */
export type Playable = AsyncIterable<SwarEvent | Uint8Array> & { clear?(): void; close?(): void };

/** Plays while it comes. Audio must be WAV or PCM of 24 kHz. */
export async function play(source: Playable, options: PlayOptions = {}): Promise<Player> {
  const player = await Player.open(options);
  player.onstop = () => (source.clear ? source.clear() : source.close?.());
  void pour(source, player);
  return player;
}

async function pour(source: Playable, player: Player): Promise<void> {
  let rest = new Uint8Array(); // half a sample, or the beginning of a header
  let headed = false;
  try {
    for await (const piece of source) {
      if (player.stopped) return;
      const pcm = piece instanceof Uint8Array ? piece : piece.type === "audio" && piece.pcm;
      if (!pcm) continue;
      let bytes = new Uint8Array(rest.length + pcm.length);
      bytes.set(rest);
      bytes.set(pcm, rest.length);
      if (!headed) {
        const kind = String.fromCharCode(...bytes.subarray(0, 4));
        if (kind === "OggS") throw new TypeError("Opus cannot be played here; ask for wav or pcm16");
        headed = kind !== "RIFF" || bytes.length >= wavHeader;
        if (headed && kind === "RIFF") bytes = bytes.slice(wavHeader);
      }
      const whole = headed ? bytes.length & ~1 : 0;
      player.push(bytes.subarray(0, whole));
      rest = bytes.slice(whole);
      await player.room();
    }
    player.end();
  } catch (e) {
    player.fail(e);
  }
}
