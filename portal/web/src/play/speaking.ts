// One take from Play to its last sample: joins the socket, the player, the figures and the list of takes.

import { batch, signal, type Signal } from "@preact/signals";
import { Player, type PlayerEvent } from "./player";
import { LAST, Socket, type SocketEvent, type SocketKey } from "./socket";
import { after, arrived, newFigures, progressed, type Figures } from "./figures";
import { fetchWith, isAborted } from "./key";
import { kept, type Take } from "./takes";
import { Peaks } from "./wave";
import { body, newID, type Settings } from "./wire";
import { unreached } from "../lib/api";
import { refusal, UNREACHED, type Refusal } from "./preview";

/** A row of the event inspector. Runs of audio are one row. */
export interface Row {
  at: number; // ms since Play was pressed
  out: boolean; // from the page to the server
  type: string;
  fields: Record<string, unknown>;
  count: number; // messages in the row
}

export type State = "idle" | "waiting" | "playing" | "stopping";

const MAX_ROWS = 1000;

export class Speaking {
  readonly state: Signal<State> = signal("idle");
  readonly socketState = signal<"closed" | "connecting" | "open">("closed");
  readonly figures = signal<Figures>(newFigures());
  readonly rows = signal<readonly Row[]>([]);
  readonly takes = signal<readonly Take[]>([]);
  readonly chunk = signal(-1); // that sounds
  readonly chunks = signal(0);
  readonly played = signal(0); // samples
  readonly outcome = signal<"" | "stopped" | "halted" | "finished">(""); // halted: what was heard again
  chosen: Settings | undefined; // what was set last; the page may come and go
  readonly refused = signal<Refusal | undefined>(undefined);
  readonly retrying = signal(0); // seconds after which a refused take is asked for again; 0 where it is not
  peaks = new Peaks();
  starts: number[] = [];

  private readonly player: Player;
  private readonly socket: Socket;
  private readonly key: SocketKey;
  private take: Take | undefined;
  private playing = 0; // the player's number of the take
  private pressed = 0;
  private complete = false; // the server has sent its last event
  private number = 0;
  private tries = 0;
  private retry = 0;
  private held: (() => void)[] | undefined; // what events have to show: it waits for the first audio, which would wait for the page otherwise

  constructor(
    private readonly api: string,
    worklet: string,
    key: SocketKey,
  ) {
    this.key = key;
    this.player = new Player(worklet, (e) => this.sounded(e));
    this.socket = new Socket(api, key, {
      event: (e) => this.told(e),
      audio: (id, pcm) => this.heard(id, pcm),
      lost: (id, code) => this.lost(id, code),
      state: (s) => (this.socketState.value = s),
    });
  }

  /** Call at the first gesture. */
  warm() {
    void this.player.warm().catch(() => undefined);
  }

  /** Call when the text is focused: the first take then finds the socket open. */
  connect() {
    void this.socket.open().catch(() => undefined);
  }

  get scheduled(): boolean {
    return this.player.scheduled;
  }

  get interrupted(): boolean {
    return this.state.value === "playing" && !this.player.running;
  }

  resume() {
    void this.player.resume();
  }

  /** Speaks. pressed is performance.now() when somebody asked for it. */
  async play(text: string, settings: Settings, pressed = performance.now()) {
    this.stopRetrying();
    this.silence();
    const take = this.begin(text, { ...settings }, pressed);
    const sent = this.send(take);
    this.show(); // after the message has left: what is drawn anew takes longer than the server's answer
    try {
      await sent;
      if (take !== this.take) return;
      this.row(true, "speak", { chars: [...text].length, voice: settings.voice, format: "pcm16" });
    } catch {
      if (take === this.take) await this.askWhy(text);
    }
  }

  // Sends at once where sound and socket are ready. An await before that would let the page be drawn first.
  private async send(take: Take) {
    if (!this.player.warmed) await this.player.warm();
    if (take !== this.take) return;
    this.playing = this.player.begin();
    const message = body(take.text, take.settings, { type: "speak", format: "pcm16", request_id: take.id });
    await this.socket.speak(take.id, message);
  }

  /** Silence first, then the cancel: the server is ahead of the ear. */
  stop() {
    this.stopRetrying();
    if (this.state.value === "idle") return;
    this.player.stop();
    this.showHeld();
    const take = this.take;
    if (!take || this.complete) return this.finish(true);
    this.state.value = "stopping";
    this.socket.cancel(take.id);
    this.row(true, "cancel", { request_id: take.id });
  }

  /** Plays a kept take again; nothing is asked of the server. */
  async replay(t: Take) {
    this.silence();
    await this.player.warm();
    this.take = t;
    this.held = undefined;
    this.complete = true;
    this.peaks = new Peaks();
    this.starts = t.chunkStarts;
    for (const b of t.blocks) this.peaks.add(b);
    this.peaks.end();
    this.figures.value = t.figures;
    this.chunks.value = t.chunkStarts.length;
    this.played.value = 0;
    this.state.value = "playing";
    this.playing = this.player.begin();
    for (const b of t.blocks) this.player.push(this.playing, b);
    this.player.end(this.playing);
  }

  close() {
    this.stopRetrying();
    this.silence();
    this.socket.close();
    this.player.close();
  }

  private stopRetrying() {
    window.clearTimeout(this.retry);
    this.retrying.value = 0;
  }

  private silence() {
    if (this.state.value === "idle") return;
    this.player.stop();
    if (this.take && !this.complete) this.socket.cancel(this.take.id);
    this.finish(true);
  }

  private begin(text: string, settings: Settings, pressed: number): Take {
    this.take = {
      id: newID(),
      number: ++this.number,
      text,
      settings,
      figures: newFigures(),
      stopped: false,
      blocks: [],
      chunkStarts: [],
    };
    this.pressed = pressed;
    this.complete = false;
    this.peaks = new Peaks();
    this.starts = this.take.chunkStarts;
    this.held = [];
    return this.take;
  }

  private show() {
    batch(() => {
      this.figures.value = newFigures();
      this.rows.value = [];
      this.refused.value = undefined;
      this.chunk.value = -1;
      this.chunks.value = 0;
      this.played.value = 0;
      this.state.value = "waiting";
    });
  }

  private told(e: SocketEvent) {
    if (!this.take || e.request_id !== this.take.id) return; // of a take that was replaced
    const { type, request_id: _, ...fields } = e;
    const at = performance.now();
    this.hold(() => {
      this.row(false, type, fields, at);
      this.figures.value = after(this.figures.value, e);
      if (type === "start") this.chunks.value = Number(e.chunks);
    });
    if (LAST.has(type)) this.showHeld();
    if (type === "start") this.started(e);
    else if (type === "chunk") this.take.chunkStarts.push(this.peaks.samples);
    else if (type === "end") this.ended();
    else if (type === "cancelled") this.finish(true);
    else if (type === "error") this.failed(e);
  }

  private hold(show: () => void) {
    if (this.held) this.held.push(show);
    else batch(show);
  }

  private showHeld() {
    const held = this.held ?? [];
    this.held = undefined;
    batch(() => held.forEach((show) => show()));
  }

  private started(e: SocketEvent) {
    this.tries = 0;
    this.take!.settings.seed = String(e.seed);
  }

  private ended() {
    this.complete = true;
    this.peaks.end();
    if (this.state.value === "stopping") return this.finish(true); // the cancel and the end crossed on the way
    this.player.end(this.playing);
  }

  private failed(e: SocketEvent) {
    const refused: Refusal = {
      status: Number(e.status) || 0,
      code: String(e.code ?? ""),
      error: String(e.error ?? ""),
      requestID: this.take!.id,
      retryAfter: Number(e.retry_after) || 0,
    };
    this.fail(refused);
    if (refused.code === "busy" && this.tries++ === 0) this.again(refused.retryAfter);
  }

  // The page tries once by itself, a little later than it was told so that not all pages come back at once.
  private again(seconds: number) {
    const { text, settings } = this.take!;
    this.retrying.value = seconds;
    this.retry = window.setTimeout(() => void this.play(text, settings), seconds * 1000 + Math.random() * 250);
  }

  private fail(r: Refusal) {
    this.showHeld();
    this.refused.value = r;
    this.player.end(this.playing); // what was sent stands and is heard
    this.complete = true;
    if (this.peaks.samples === 0 || this.state.value === "stopping") this.finish(this.state.value === "stopping");
  }

  private lost(id: string, code: number) {
    if (id !== this.take?.id || this.complete) return;
    if (code === 1008 && this.peaks.samples === 0 && this.tries++ === 0) return this.again(0); // a new key is being made
    this.fail({ ...UNREACHED, requestID: id, ...(code === 1008 && { code: "key_ended" }) });
  }

  // A browser tells nothing of a refused handshake; the same key and text over HTTP say what is wrong.
  private async askWhy(text: string) {
    try {
      const asked = { method: "POST", body: JSON.stringify({ text }) };
      const r = await fetchWith(this.key, this.api + "/v1/normalize", asked);
      this.fail(r.ok ? UNREACHED : await refusal(r));
    } catch (err) {
      if (!isAborted(err)) unreached(); // the page says so, and looks for the server
      this.fail(UNREACHED);
    }
  }

  private heard(id: string, pcm: ArrayBuffer) {
    const take = this.take;
    if (!take || id !== take.id || this.state.value === "stopping") return;
    this.player.push(this.playing, pcm);
    take.blocks.push(pcm);
    this.peaks.add(pcm);
    this.showHeld();
    batch(() => {
      this.figures.value = arrived(this.figures.value, pcm.byteLength);
      this.audioRow(pcm.byteLength);
    });
  }

  private audioRow(bytes: number) {
    const rows = this.rows.value;
    const last = rows.at(-1);
    if (last?.type !== "audio") return this.row(false, "audio", { bytes });
    const sum = { ...last, count: last.count + 1, fields: { bytes: Number(last.fields.bytes) + bytes } };
    this.rows.value = [...rows.slice(0, -1), sum];
  }

  private row(out: boolean, type: string, fields: Record<string, unknown>, at = performance.now()) {
    if (this.rows.value.length >= MAX_ROWS) return;
    this.rows.value = [...this.rows.value, { at: at - this.pressed, out, type, fields, count: 1 }];
  }

  private sounded(e: PlayerEvent) {
    if (e.take !== this.playing) return;
    if (e.type === "first") return this.first(e.at, e.latencyMs);
    this.played.value = e.played;
    if (e.type !== "progress") return e.type === "done" ? this.finish(false) : undefined; // whoever stopped it calls finish
    this.figures.value = progressed(this.figures.value, e.queued, e.underruns);
    this.chunk.value = this.starts.findLastIndex((s) => s <= e.played);
  }

  private first(at: number, latencyMs: number) {
    this.state.value = this.state.value === "waiting" ? "playing" : this.state.value;
    if (this.figures.value.firstSoundMs !== undefined) return; // a replay keeps the figures of its take
    this.figures.value = { ...this.figures.value, firstSoundMs: at - this.pressed + latencyMs, outputMs: latencyMs };
  }

  private finish(stopped: boolean) {
    const take = this.take;
    const again = take !== undefined && this.takes.value.includes(take);
    this.outcome.value = stopped ? (again ? "halted" : "stopped") : this.refused.value ? "" : "finished"; // a refusal is an alert already
    this.state.value = "idle";
    this.chunk.value = -1;
    if (!take || take.blocks.length === 0 || again) return;
    take.stopped = stopped;
    take.figures = this.figures.value;
    this.takes.value = kept([take, ...this.takes.value]);
  }
}
