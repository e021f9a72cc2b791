/** Hinglish speech from a Swar server. */

import { eventOf, type SwarEvent } from "./events.js";
import { send } from "./http.js";
import { fieldsOf, targetOf, type SpeakOptions, type SwarOptions, type Target } from "./options.js";
import { Socket } from "./socket.js";
import { Take } from "./take.js";

export { frames20ms, toMulaw } from "./audio.js";
export { AuthError, BusyError, CutError, SwarError, TextError, VoiceError, type Failure } from "./errors.js";
export type * from "./events.js";
export type { Format, SpeakOptions, SwarOptions, TextOptions, UtteranceOptions, VoiceOptions, WebSocketLike } from "./options.js";
export { Socket, Utterance } from "./socket.js";
export { Take, type Trailers } from "./take.js";
export { toVTT } from "./vtt.js";
export { Written } from "./written.js";

export interface Voice {
  name: string;
  language: string;
  sample_rate: number;
}

/** How a text will be read. */
export interface Normalized {
  normalized: string;
  disclosure?: string;
  /** Characters that the model cannot speak and leaves out. */
  unspoken?: string;
  chars: number;
  chunks: { text: string; tokens: number; char_start: number; char_end: number }[];
  input_chars: number;
  spans: { start: number; end: number; kind: string; spoken: string; out_start: number; out_end: number }[];
}

/** A client of one server. A request that failed before its first byte is sent again, up to `maxRetries` times. */
export class Swar {
  #target: Target;

  constructor(options: SwarOptions = {}) {
    this.#target = targetOf(options);
  }

  get baseUrl(): string {
    return this.#target.server;
  }

  /** Speaks a text; resolves with the first 80 ms. */
  async speak(options: SpeakOptions): Promise<Take> {
    return new Take(await send(this.#target, "/v1/tts", fieldsOf(options), options.signal));
  }

  /** Speaks a text, and yields its audio with the time of each word. Leaving the loop stops the server. */
  async *words(options: Omit<SpeakOptions, "stream">): AsyncGenerator<SwarEvent, undefined> {
    const answer = await send(this.#target, "/v1/tts/words", fieldsOf(options), options.signal);
    let complete = false;
    try {
      for await (const line of answer.lines()) {
        const event = line ? eventOf(line) : undefined;
        if (!event) continue;
        if ("failed" in event) throw event.failed;
        complete = event.type === "end";
        yield event;
      }
      if (!complete) throw answer.cut();
    } finally {
      answer.close();
    }
  }

  /** Opens a WebSocket for conversations. Aborting closes it. */
  async connect(options: { signal?: AbortSignal } = {}): Promise<Socket> {
    options.signal?.throwIfAborted();
    const socket = new Socket(this.#target, options.signal);
    await socket.ready();
    return socket;
  }

  /** Lists the voices that the key may use. */
  async voices(): Promise<Voice[]> {
    const { voices } = JSON.parse(await (await send(this.#target, "/v1/voices")).text()) as { voices: Voice[] };
    return voices;
  }

  /** Shows how a text will be read. It is free. */
  async normalize(text: string, options: Pick<SpeakOptions, "enDigits" | "inputType" | "lexicon"> = {}): Promise<Normalized> {
    const answer = await send(this.#target, "/v1/normalize", fieldsOf({ text, ...options }));
    return JSON.parse(await answer.text()) as Normalized;
  }
}
