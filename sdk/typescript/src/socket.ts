import { AuthError, BusyError, CutError, errorOfAnswer, SwarError } from "./errors.js";
import { eventOf, type AudioEvent, type CancelledEvent, type SwarEvent } from "./events.js";
import { headersOf, retrying, unreached } from "./http.js";
import { fieldsOf, type Target, type TextOptions, type UtteranceOptions, type WebSocketLike } from "./options.js";
import { joined } from "./take.js";

const path = "/v1/tts/stream";
const unreadLimit = 1 << 20; // bytes of audio, beyond which a WebSocket that can do so stops reading
const pingEvery = 20_000; // ms, so that a server that has vanished is noticed, and proxies see traffic
const silentTicks = 2; // without a sign of life, after which a connection counts as lost

/**
 * One WebSocket for many utterances, which are spoken one after another. It connects anew between utterances where the
 * server or the network has ended the connection, and never inside one: that ends with a CutError.
 */
export class Socket {
  #target: Target;
  #line: Line;
  #closed: unknown;

  /** Use {@link Swar.connect}. */
  constructor(target: Target, signal?: AbortSignal) {
    this.#target = target;
    this.#line = new Line(target);
    signal?.addEventListener("abort", () => this.#close(signal.reason), { once: true });
  }

  /** Resolves when the connection is open. */
  ready(): Promise<void> {
    return this.#line.ready;
  }

  /** Begins an utterance that is fed piece by piece. */
  utterance(options: UtteranceOptions = {}): Utterance {
    return new Utterance(this.#alive(), options);
  }

  /** Speaks a whole text. */
  say(text: string, options: UtteranceOptions & TextOptions = {}): Utterance {
    return new Utterance(this.#alive(), options, text);
  }

  /** Ends the connection, and whatever it is speaking. */
  close(): void {
    this.#close(new CutError("the socket was closed", { code: "closed" }));
  }

  #close(reason: unknown): void {
    this.#closed ??= reason;
    this.#line.end(reason);
  }

  #alive(): Line {
    if (this.#closed) throw this.#closed;
    if (this.#line.lost) this.#line = new Line(this.#target);
    return this.#line;
  }
}

/** One utterance on a socket. Iterate over it for its events; leaving the loop early stops it. */
export class Utterance {
  readonly requestId: string;
  /** How far it was heard, and what is billed; there once the server has stopped it. */
  cancelled: CancelledEvent | undefined;
  #line: Line;
  #first: object | undefined; // fields of the first append, until that was sent
  #events: SwarEvent[] = [];
  #failed: { reason: unknown } | undefined;
  #state: "fed" | "finished" | "cleared" | "over" = "fed";
  #half = ""; // of a surrogate pair whose other half comes with the next piece
  #wake: (() => void)[] = [];
  #signal: AbortSignal | undefined;
  #abort = () => {
    this.clear();
    this.#fail(this.#signal?.reason);
  };

  /** Use {@link Socket.utterance} or {@link Socket.say}. */
  constructor(line: Line, options: UtteranceOptions, text?: string) {
    options.signal?.throwIfAborted();
    this.#line = line;
    this.requestId = line.begin(this, options.requestId);
    const fields = { ...fieldsOf(options), request_id: this.requestId };
    if (text === undefined) {
      this.#first = fields;
    } else {
      line.send({ type: "speak", text, ...fields });
      this.#state = "finished";
    }
    this.#signal = options.signal;
    this.#signal?.addEventListener("abort", this.#abort);
  }

  /** Feeds text; it is spoken sentence by sentence. Pieces are joined as they are: send the spaces too. */
  append(piece: string): void {
    if (this.#state === "finished") throw new TypeError("append after finish");
    if (this.#state !== "fed") return; // iterating says why
    let text = this.#half + piece;
    this.#half = /[\uD800-\uDBFF]$/.test(text) ? text.slice(-1) : "";
    text = text.slice(0, text.length - this.#half.length);
    this.#line.send({ type: "append", text, request_id: this.requestId, ...this.#first });
    this.#first = undefined;
  }

  /** Speaks what was fed, also without the end of a sentence; a `flushed` event follows its audio. */
  flush(): void {
    this.#command("flush");
  }

  /** Says that no more text comes; an `end` event follows the rest. */
  finish(): void {
    this.#command("finish");
    if (this.#state === "fed") this.#state = "finished";
  }

  /** Stops it within a frame. No audio comes any more; a `cancelled` event says how much was heard, and billed. */
  clear(): void {
    if (this.#state === "cleared" || this.#state === "over") return;
    this.#state = "cleared";
    this.#drop();
    if (this.#first) this.#over(); // the server knows nothing of it
    else this.#line.send({ type: "cancel", request_id: this.requestId });
  }

  /** Drops audio that nobody read. */
  #drop(): void {
    this.#line.took(this.#events);
    this.#events = this.#events.filter((e) => e.type !== "audio");
  }

  #command(type: "flush" | "finish"): void {
    if (this.#state !== "fed") return;
    if (this.#first) this.append("");
    this.#line.send({ type, request_id: this.requestId });
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<SwarEvent, undefined> {
    try {
      for (;;) {
        const event = this.#events.shift();
        if (event) {
          this.#line.took([event]);
          yield event;
        } else if (this.#failed) {
          throw this.#failed.reason;
        } else if (this.#state === "over") {
          return;
        } else {
          await this.#line.waiting(new Promise<void>((wake) => this.#wake.push(wake)));
        }
      }
    } finally {
      this.clear();
      this.#drop();
    }
  }

  /** Reads all of it, and returns the audio. */
  async bytes(): Promise<Uint8Array> {
    const pieces: Uint8Array[] = [];
    for await (const e of this) if (e.type === "audio") pieces.push(e.pcm);
    return joined(pieces);
  }

  /** @internal Takes an event of the connection, or says by false that nobody will read it. */
  put(event: SwarEvent): boolean {
    if (event.type === "audio" && this.#state === "cleared") return false;
    if (event.type === "cancelled") this.cancelled = event;
    this.#events.push(event);
    if (event.type === "end" || event.type === "cancelled") this.#over();
    this.#wakeAll();
    return true;
  }

  /** @internal Ends it with an error. */
  fail(reason: unknown): void {
    this.#fail(reason);
    this.#over();
  }

  #fail(reason: unknown): void {
    this.#failed ??= { reason };
    this.#wakeAll();
  }

  #over(): void {
    this.#state = "over";
    this.#line.forget(this.requestId);
    this.#signal?.removeEventListener("abort", this.#abort);
    this.#wakeAll();
  }

  #wakeAll(): void {
    for (const wake of this.#wake.splice(0)) wake();
  }
}

let labels = 0;
const label = Math.random().toString(36).slice(2, 10);

/** One connection: messages in, events of each utterance out. Binary messages belong to the utterance that started last. */
class Line {
  readonly ready: Promise<void>;
  /** Why it has ended. */
  lost: { reason: unknown } | undefined;
  #target: Target;
  #ws: WebSocketLike | undefined;
  #stopped = new AbortController();
  #outbox: string[] | undefined = []; // until the connection is open
  #utterances = new Map<string, Utterance>();
  #heard = "";
  #unread = 0;
  #readers = 0;
  #paused = false;
  #silent = 0;
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(target: Target) {
    this.#target = target;
    this.ready = this.#open();
    this.ready.catch((e: unknown) => this.end(e));
  }

  async #open(): Promise<void> {
    const signal = this.#stopped.signal;
    const ws = await retrying(this.#target.retries, signal, () => dial(this.#target, signal));
    this.#ws = ws;
    ws.onmessage = ({ data }: { data: string | ArrayBuffer }) => this.#feed(data);
    ws.onclose = (e: { code: number; reason: string }) => this.end(errorOfClose(e.code, e.reason));
    ws.onerror = () => {}; // onclose follows
    for (const message of this.#outbox ?? []) ws.send(message);
    this.#outbox = undefined;
    this.#timer = setInterval(() => this.#tick(), pingEvery);
    (this.#timer as { unref?: () => void }).unref?.(); // in Node it keeps no program running
  }

  #tick(): void {
    if (this.#paused) return;
    if (this.#silent++ < silentTicks) this.send({ type: "ping" });
    else this.end(new CutError("the connection was lost: the server does not answer", { code: "cut" }));
  }

  begin(utterance: Utterance, requestId?: string): string {
    const id = requestId ?? `js_${label}_${++labels}`;
    if (this.#utterances.has(id)) throw new TypeError(`requestId ${id} is in use on this socket`);
    this.#utterances.set(id, utterance);
    return id;
  }

  forget(requestId: string): void {
    this.#utterances.delete(requestId);
  }

  send(message: object): void {
    const text = JSON.stringify(message);
    if (this.#outbox) this.#outbox.push(text);
    else if (!this.lost) this.#ws?.send(text);
  }

  #feed(data: string | ArrayBuffer): void {
    this.#silent = 0;
    if (typeof data !== "string") {
      const pcm = new Uint8Array(data);
      const audio: AudioEvent = { type: "audio", request_id: this.#heard, pcm };
      if (this.#utterances.get(this.#heard)?.put(audio)) this.#unread += pcm.length;
      this.#balance();
      return;
    }
    let event;
    try {
      event = eventOf(data);
    } catch (e) {
      this.end(new SwarError(`the server sent what is no JSON: ${data.slice(0, 100)}`, { cause: e }));
      return;
    }
    if (!event) return;
    if ("type" in event && event.type === "start") this.#heard = event.request_id;
    const utterance = this.#utterances.get(event.request_id);
    if ("failed" in event) utterance?.fail(event.failed);
    else utterance?.put(event);
  }

  /** Counts audio that was read, or dropped. */
  took(events: SwarEvent[]): void {
    for (const e of events) if (e.type === "audio") this.#unread -= e.pcm.length;
    this.#balance();
  }

  /** Reads on while somebody waits: what is unread may be of another utterance. */
  async waiting(news: Promise<void>): Promise<void> {
    this.#readers++;
    this.#balance();
    await news;
    this.#readers--;
    this.#balance();
  }

  #balance(): void {
    const full = this.#unread > unreadLimit && this.#readers === 0;
    if (full === this.#paused) return;
    this.#paused = full;
    if (full) this.#ws?.pause?.();
    else this.#ws?.resume?.();
  }

  /** Closes it, and ends what is open on it. */
  end(reason: unknown): void {
    if (this.lost) return;
    this.lost = { reason };
    clearInterval(this.#timer);
    this.#stopped.abort(reason);
    if (this.#paused) this.#ws?.resume?.(); // or the answer to the close would not be read
    this.#ws?.close();
    for (const utterance of [...this.#utterances.values()]) utterance.fail(reason);
  }
}

/** Opens a WebSocket. */
async function dial(t: Target, signal: AbortSignal): Promise<WebSocketLike> {
  const WebSocket = t.WebSocket ?? (globalThis as { WebSocket?: NonNullable<Target["WebSocket"]> }).WebSocket;
  if (!WebSocket) {
    throw new TypeError("this platform has no WebSocket; give one: new Swar({ WebSocket }), from the package ws for instance");
  }
  const url = t.server.replace(/^http/, "ws") + path;
  // Browsers can set no headers. A key that is no token of HTTP cannot be a subprotocol either.
  const isToken = /^[\w!#$%&'*+.^`|~-]+$/.test(t.key);
  const ws = new WebSocket(isToken || !t.key ? url : `${url}?api_key=${encodeURIComponent(t.key)}`, isToken ? ["tts.v1", `key.${t.key}`] : ["tts.v1"]);
  ws.binaryType = "arraybuffer";
  const open = await new Promise<boolean>((resolve) => {
    const timer = setTimeout(() => resolve(false), t.timeout);
    const settle = (opened: boolean) => {
      clearTimeout(timer);
      resolve(opened);
    };
    ws.onopen = () => settle(true);
    ws.onclose = ws.onerror = () => settle(false);
    signal.addEventListener("abort", () => settle(false), { once: true });
  });
  if (open && !signal.aborted) return ws;
  ws.close();
  signal.throwIfAborted();
  throw await refusal(t, signal);
}

/** Asks by HTTP why a handshake failed, for a WebSocket does not say. */
async function refusal(t: Target, signal: AbortSignal): Promise<SwarError> {
  let answer: Response;
  try {
    answer = await t.fetch(t.server + path, { headers: headersOf(t), signal });
  } catch (e) {
    return unreached(t, e);
  }
  if (answer.status !== 426) return errorOfAnswer(answer);
  await answer.body?.cancel();
  return new SwarError(`${t.server} opens no WebSocket; does a proxy in between forward them?`, { code: "unreachable" });
}

function errorOfClose(code: number, reason: string): SwarError {
  if (code === 1008 && reason.includes("key")) return new AuthError(reason, { status: 401, code: "invalid_key" });
  if (code === 1013) return new BusyError(reason || "busy", { status: 503, code: "busy" });
  return new CutError(`the connection ended before the audio (${[code, reason].join(" ").trim()})`, { code: "cut" });
}
