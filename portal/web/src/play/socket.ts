// One WebSocket for the tab. It is opened when it will be needed soon, opened again when the server went away, and closed when idle.

import { withKeys } from "../lib/playkeys";
import { digitsOf } from "./wire";

export interface SocketEvent {
  type: string;
  request_id?: string;
  [field: string]: unknown;
}

export interface SocketHandlers {
  event(e: SocketEvent, raw: string): void;
  audio(requestID: string, pcm: ArrayBuffer): void;
  /** lost is called once for each utterance that had no last event; code is the close code. */
  lost(requestID: string, code: number): void;
  state(s: "closed" | "connecting" | "open"): void;
}

export interface SocketKey {
  /** The key to speak with, "" on an open server; again is true after one was refused. */
  get(again: boolean): Promise<string>;
}

const WAITS = [500, 1000, 2000, 4000]; // ms between attempts after the server went away
const IDLE = 5 * 60_000; // ms
/** Types of events after which no more comes of an utterance. */
export const LAST = new Set(["end", "cancelled", "error"]);

export class Socket {
  private ws: WebSocket | undefined;
  private opening: Promise<WebSocket> | undefined;
  private readonly alive = new Set<string>(); // utterances that have yet to end
  private speaking = ""; // whose audio comes
  private attempt = 0;
  private renewed = false; // a new key was asked for since the last good start
  private wanted = false; // close was not called since the last open
  private idle = 0;
  private retry = 0;

  /** address is the origin of the API, such as https://tts.example.com. */
  constructor(
    private readonly address: string,
    private readonly key: SocketKey,
    private readonly on: SocketHandlers,
  ) {}

  open(): Promise<WebSocket> {
    this.wanted = true;
    this.rest();
    if (this.ws?.readyState === WebSocket.OPEN) return Promise.resolve(this.ws);
    return this.connect(false);
  }

  private connect(again: boolean): Promise<WebSocket> {
    this.opening ??= withKeys((signal) => this.handshake(again, signal)).finally(() => (this.opening = undefined));
    return this.opening;
  }

  private async handshake(again: boolean, leaving: AbortSignal): Promise<WebSocket> {
    this.on.state("connecting");
    window.clearTimeout(this.retry);
    const key = await this.key.get(again);
    if (leaving.aborted || !this.wanted) return this.unwanted();
    const ws = new WebSocket(
      this.address.replace(/^http/, "ws") + "/v1/tts/stream",
      key ? ["tts.v1", "key." + key] : ["tts.v1"],
    );
    ws.binaryType = "arraybuffer";
    await new Promise<void>((ok, no) => {
      ws.onopen = () => ok();
      ws.onclose = (e) => no(new SocketError(e.code)); // a refused handshake shows a page only 1006
    }).catch((err) => {
      this.on.state("closed");
      throw err;
    });
    if (leaving.aborted || !this.wanted) return this.unwanted(ws);
    ws.onmessage = ({ data }) => (typeof data === "string" ? this.event(data) : this.on.audio(this.speaking, data));
    ws.onclose = (e) => this.closed(ws, e.code);
    this.ws = ws;
    this.attempt = 0;
    this.on.state("open");
    return ws;
  }

  // Closed after the handshake, not in it, which a browser would write into its console.
  private unwanted(ws?: WebSocket): never {
    ws?.close(1000);
    this.on.state("closed");
    throw new SocketError(1000);
  }

  private event(raw: string) {
    this.rest();
    const e = JSON.parse(raw) as SocketEvent;
    const seed = digitsOf(raw, "seed");
    if (seed) e.seed = seed; // exact, also beyond 2^53
    const id = e.request_id ?? "";
    if (e.type === "start") {
      this.speaking = id;
      this.renewed = false;
    }
    if (LAST.has(e.type)) this.alive.delete(id);
    this.on.event(e, raw);
  }

  private closed(ws: WebSocket, code: number) {
    if (ws !== this.ws) return;
    this.ws = undefined;
    this.on.state("closed");
    const cut = [...this.alive];
    this.alive.clear();
    for (const id of cut) this.on.lost(id, code);
    if (!this.wanted) return; // both sides closed it at the same moment
    if (code === 1008 && !this.renewed) this.renew();
    if (code === 1001) this.later();
  }

  // A playground key lives two hours, and an eleventh one ends the oldest: the page gets a new one, once.
  private renew() {
    this.renewed = true;
    this.connect(true).catch(() => undefined); // told as a state
  }

  private later() {
    const wait = WAITS[this.attempt++];
    if (wait === undefined) return;
    this.retry = window.setTimeout(() => this.open().catch(() => this.later()), wait);
  }

  /** Sends a message of wire.ts: at once where the socket is open, else once it is. */
  async speak(requestID: string, message: string) {
    const open = this.ws?.readyState === WebSocket.OPEN ? this.ws : undefined;
    const ws = open ?? (await this.open());
    this.alive.add(requestID);
    ws.send(message);
    this.rest();
  }

  cancel(requestID: string) {
    if (this.ws?.readyState === WebSocket.OPEN) this.ws.send(JSON.stringify({ type: "cancel", request_id: requestID }));
  }

  close() {
    this.wanted = false;
    this.alive.clear();
    window.clearTimeout(this.idle);
    window.clearTimeout(this.retry);
    this.ws?.close(1000);
  }

  private rest() {
    window.clearTimeout(this.idle);
    this.idle = window.setTimeout(() => (this.alive.size === 0 ? this.close() : this.rest()), IDLE);
  }
}

/** The socket could not be opened. The code is 1006 for every refusal: ask POST /v1/normalize for the reason. */
export class SocketError extends Error {
  constructor(readonly code: number) {
    super(`WebSocket closed with ${code}`);
  }
}
