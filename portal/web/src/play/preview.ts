// Asks what would be spoken while somebody types. Only the newest answer counts.

import { unreached } from "../lib/api";
import { isAborted } from "./key";
import { MAX_CHARS, type Preview, type Settings } from "./wire";
import { countPoints, trimmed } from "./marks";

const PAUSE = 150; // ms without a key press before the server is asked

export interface Refusal {
  status: number; // 0: the server could not be reached
  code: string; // of x-error-code
  error: string; // the server's text
  requestID: string;
  retryAfter: number; // seconds; 0 where the server names none
}

/** The refusal of a response that is not ok. */
export async function refusal(r: Response): Promise<Refusal> {
  const said = (await r.json().catch(() => ({}))) as { error?: string };
  return {
    status: r.status,
    code: r.headers.get("x-error-code") ?? "",
    error: said.error ?? r.statusText,
    requestID: r.headers.get("x-request-id") ?? "",
    retryAfter: Number(r.headers.get("retry-after")) || 0,
  };
}

const unasked = (code: string): Refusal => ({ status: 0, code, error: "", requestID: "", retryAfter: 0 });

export const UNREACHED = unasked("unreached");

/** What to say of a refusal: a sentence of the page where it has one, else the server's. */
export function reasonOf(t: (key: string) => string, r: Refusal): string {
  const key = "play.error." + r.code;
  const known = t(key);
  return known === key ? r.error || r.code : known;
}

export interface PreviewResult {
  typed: string; // the text as it stood in the field; marks belong to it and to no other
  preview?: Preview;
  refusal?: Refusal;
  ms: number;
}

export class Previewer {
  private timer = 0;
  private running: AbortController | undefined;
  composing = false; // between compositionstart and compositionend nothing is asked

  constructor(
    private readonly call: (path: string, init: RequestInit, controller: AbortController) => Promise<Response>,
    private readonly tell: (r: PreviewResult) => void,
  ) {}

  /** Call at every change of the text or of a setting that changes what is spoken. */
  ask(typed: string, s: Pick<Settings, "enDigits" | "raw">, pause = PAUSE) {
    this.stop();
    if (this.composing) return;
    this.timer = window.setTimeout(() => void this.now(typed, s), pause);
  }

  stop() {
    window.clearTimeout(this.timer);
    this.running?.abort();
  }

  private async now(typed: string, s: Pick<Settings, "enDigits" | "raw">) {
    const chars = countPoints(trimmed(typed).text);
    if (chars === 0) return this.tell({ typed, ms: 0 });
    if (chars > MAX_CHARS) return this.tell({ typed, refusal: unasked("over_limit"), ms: 0 });
    const running = new AbortController();
    this.running = running;
    const began = performance.now();
    const body = JSON.stringify({ text: typed, ...(s.enDigits && { en_digits: true }), ...(s.raw && { raw: true }) });
    const result = await this.fetch(body, running);
    if (running.signal.aborted) return;
    this.tell({ typed, ms: performance.now() - began, ...result });
  }

  private async fetch(body: string, running: AbortController): Promise<Pick<PreviewResult, "preview" | "refusal">> {
    try {
      const r = await this.call("/v1/normalize", { method: "POST", body }, running);
      return r.ok ? { preview: (await r.json()) as Preview } : { refusal: await refusal(r) };
    } catch (err) {
      if (!isAborted(err)) unreached(); // the page says so, and looks for the server
      return { refusal: UNREACHED };
    }
  }
}
