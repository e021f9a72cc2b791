import {
  APIConnectionError, APIError, APIStatusError, APITimeoutError, AudioByteStream, createTimedString, tts, type APIConnectOptions,
} from "@livekit/agents";
import { AudioFrame } from "@livekit/rtc-node";
import { Swar, SwarError, Written, type Socket, type SwarOptions, type Utterance, type Word } from "@swar/client";

type TimedString = ReturnType<typeof createTimedString>;

const sampleRate = 24_000;
const frameSamples = 1_920; // 80 ms
const silenceLimit = 10_000; // ms until a server that sends nothing counts as gone, as LiveKit has it

/** How turns are spoken. */
export interface VoiceOptions {
  /** A voice of the server; its default where absent. */
  voice?: string;
  /** Speaks the same text in the same way again. */
  seed?: number;
  /** How much the intonation varies, from 0 to 2. */
  temperature?: number;
  /** Reads digits in English. */
  enDigits?: boolean;
  /** `none` leaves the lexicon of the project out. */
  lexicon?: string;
}

/** Where the server is, and how it speaks. Without `baseUrl` and `apiKey` they are SWAR_SERVER and SWAR_KEY. */
export type TTSOptions = VoiceOptions & Pick<SwarOptions, "baseUrl" | "apiKey" | "WebSocket">;

/** Speech of a Swar server, over one WebSocket for all turns. One object serves one conversation. */
export class TTS extends tts.TTS {
  label = "swar.TTS";
  #client: Swar;
  #voice: VoiceOptions;
  #connecting: Promise<Socket> | undefined;

  constructor({ baseUrl, apiKey, WebSocket, ...voice }: TTSOptions = {}) {
    super(sampleRate, 1, { streaming: true, alignedTranscript: true });
    this.#client = new Swar({ baseUrl, apiKey, WebSocket, maxRetries: 0, timeout: silenceLimit }); // LiveKit tries again
    this.#voice = voice;
  }

  override get model(): string {
    return "swar-1";
  }

  override get provider(): string {
    return "Swar";
  }

  /** Changes how the next turns are spoken. */
  updateOptions(options: VoiceOptions): void {
    this.#voice = { ...this.#voice, ...options };
  }

  /** Connects in the background, so that the first turn does not wait for it. */
  prewarm(): void {
    this.connect().catch(() => {}); // the first turn says why
  }

  synthesize(text: string, connOptions?: APIConnectOptions, abortSignal?: AbortSignal): ChunkedStream {
    return new ChunkedStream(this, this.#client, { ...this.#voice }, text, connOptions, abortSignal);
  }

  stream(options?: { connOptions?: APIConnectOptions }): SynthesizeStream {
    return new SynthesizeStream(this, { ...this.#voice }, options?.connOptions);
  }

  /** @internal The socket of all turns. Once open, it connects anew by itself. */
  connect(): Promise<Socket> {
    this.#connecting ??= this.#client.connect().catch((e: unknown) => {
      this.#connecting = undefined;
      throw e;
    });
    return this.#connecting;
  }

  override async close(): Promise<void> {
    const socket = await this.#connecting?.catch(() => undefined);
    socket?.close();
    this.#connecting = undefined;
    await super.close();
  }
}

/** A whole text, over HTTP. */
export class ChunkedStream extends tts.ChunkedStream {
  label = "swar.ChunkedStream";
  #client: Swar;
  #voice: VoiceOptions;

  constructor(
    owner: TTS, client: Swar, voice: VoiceOptions, text: string, connOptions?: APIConnectOptions, abortSignal?: AbortSignal,
  ) {
    super(text, owner, connOptions, abortSignal);
    this.#client = client;
    this.#voice = voice;
  }

  protected async run(): Promise<void> {
    const frames = new Frames((packet) => this.queue.put(packet));
    try {
      const take = await this.#client.speak({ ...this.#voice, text: this.inputText, format: "pcm16", signal: this.abortSignal });
      frames.requestId = take.requestId;
      const pieces = new AudioByteStream(sampleRate, 1, frameSamples); // pieces of HTTP may cut samples
      for await (const bytes of take) for (const frame of pieces.write(bytes)) frames.add(frame);
      for (const frame of pieces.flush()) frames.add(frame);
      frames.end();
    } catch (e) {
      if (!this.abortSignal.aborted) throw apiError(e, frames.sent);
    }
  }
}

/** One turn: an utterance on the socket, which is fed with each piece of text as it is pushed. */
export class SynthesizeStream extends tts.SynthesizeStream {
  label = "swar.SynthesizeStream";
  #owner: TTS;
  #voice: VoiceOptions;
  #pieces: (string | typeof tts.SynthesizeStream.FLUSH_SENTINEL)[] = []; // all that came, for another try
  #feeding: Promise<void> | undefined;
  #complete = false;
  #written = new Written();
  #utterance: Utterance | undefined;

  constructor(owner: TTS, voice: VoiceOptions, connOptions?: APIConnectOptions) {
    super(owner, connOptions);
    this.#owner = owner;
    this.#voice = voice;
  }

  protected async run(): Promise<void> {
    const frames = new Frames((packet) => this.queue.put(packet));
    try {
      const socket = await this.#owner.connect();
      // The signal of a barge-in stops the server at once, also when all text was sent.
      const utterance = socket.utterance({ ...this.#voice, timestamps: "words", signal: this.abortSignal });
      frames.requestId = utterance.requestId;
      this.#utterance = utterance;
      this.#written = new Written();
      for (const piece of this.#pieces) this.#say(piece);
      if (this.#complete) this.#finish();
      this.#feeding ??= this.#feed();
      await this.#listen(utterance, frames);
      this.queue.put(tts.SynthesizeStream.END_OF_STREAM);
    } catch (e) {
      if (!this.abortSignal.aborted) throw apiError(e, frames.sent);
    } finally {
      this.#utterance = undefined;
    }
  }

  /** Feeds whichever utterance there is: a second try has another one. */
  async #feed(): Promise<void> {
    for await (const piece of this.input) {
      this.#pieces.push(piece);
      this.#say(piece);
    }
    this.#complete = true;
    this.#finish();
  }

  #say(piece: string | typeof tts.SynthesizeStream.FLUSH_SENTINEL): void {
    if (typeof piece === "string") {
      this.markStarted();
      this.#written.append(piece);
      this.#utterance?.append(piece);
    } else if (this.#hasText()) {
      this.#utterance?.flush();
    }
  }

  #finish(): void {
    if (this.#hasText()) this.#utterance?.finish();
    else this.#utterance?.clear(); // the server was sent nothing
  }

  #hasText(): boolean {
    return this.#pieces.some((piece) => typeof piece === "string");
  }

  async #listen(utterance: Utterance, frames: Frames): Promise<void> {
    let place = 0;
    // Each word has the white space and the marks before it, so that the pieces are the text.
    const timed = ({ char_end, start_s, end_s }: Word) => {
      const text = this.#written.text.slice(place, char_end);
      place = char_end;
      return createTimedString({ text, startTime: start_s, endTime: end_s });
    };
    for await (const e of utterance) {
      if (e.type === "audio") frames.push(e.pcm);
      else if (e.type === "words") frames.words.push(...this.#written.words(e.words).map(timed));
      if (e.type !== "end") continue;
      frames.words.push(...this.#written.rest().map(timed));
      if (!this.#complete) {
        throw new APIError("the turn was over before its text: none came for 30 s while another turn waited", { retryable: false });
      }
    }
    frames.end();
  }
}

/** Makes packets of samples, holding one back so that the last one can say that it is. */
class Frames {
  requestId = "";
  words: TimedString[] = []; // of what was spoken since the last packet
  sent = false;
  #held: AudioFrame | undefined;

  constructor(readonly put: (packet: tts.SynthesizedAudio) => void) {}

  /** Adds samples of the socket, which come in whole frames. */
  push(pcm: Uint8Array): void {
    const samples = new Int16Array(pcm.slice().buffer);
    for (let i = 0; i < samples.length; i += frameSamples) {
      const some = samples.slice(i, i + frameSamples);
      this.add(new AudioFrame(some, sampleRate, 1, some.length));
    }
  }

  add(frame: AudioFrame): void {
    this.#send(false);
    this.#held = frame;
  }

  end(): void {
    this.#send(true);
  }

  #send(final: boolean): void {
    if (!this.#held) return;
    const timedTranscripts = this.words.length ? this.words : undefined;
    this.put({ requestId: this.requestId, segmentId: this.requestId, frame: this.#held, final, timedTranscripts });
    this.words = [];
    this.sent = true;
    this.#held = undefined;
  }
}

/** Names a failure as LiveKit does. What was heard in part is not tried again. */
function apiError(e: unknown, heard: boolean): unknown {
  if (!(e instanceof SwarError)) return e;
  if (e.code === "timeout") return new APITimeoutError({ message: e.message, options: { retryable: !heard } });
  if (e.status === 0) return new APIConnectionError({ message: e.message, options: { retryable: !heard } });
  const retryable = !heard && (e.status === 408 || e.status === 429 || e.status >= 500);
  return new APIStatusError({ message: e.message, options: { statusCode: e.status, requestId: e.requestId || null, retryable } });
}
