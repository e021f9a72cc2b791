import { CutError, errorOfAnswer, SwarError } from "./errors.js";
import type { Target } from "./options.js";

const repeated = new Set([408, 429, 500, 503]);
const longestWait = 10; // seconds; a longer Retry-After is for the caller to decide about

/** Repeats what failed before its first byte: after Retry-After and 0 to 250 ms at random. */
export async function retrying<T>(retries: number, signal: AbortSignal | undefined, attempt: () => Promise<T>): Promise<T> {
  for (let left = retries; ; left--) {
    signal?.throwIfAborted();
    try {
      return await attempt();
    } catch (e) {
      signal?.throwIfAborted();
      if (left <= 0 || !(e instanceof SwarError)) throw e;
      const wait = e.retryAfter ?? 0.2;
      if (!(repeated.has(e.status) || e.code === "unreachable") || wait > longestWait) throw e;
      await pause((wait + Math.random() / 4) * 1000, signal);
    }
  }
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener("abort", done);
  });
}

export function headersOf(t: Target): Record<string, string> {
  return t.key ? { "x-api-key": t.key } : {};
}

export function unreached(t: Target, cause: unknown): SwarError {
  const inner = (cause as { cause?: unknown } | undefined)?.cause ?? cause;
  const why = inner instanceof Error ? inner.message || inner.name : String(inner);
  return new SwarError(`no server answers at ${t.server}: ${why}`, { code: "unreachable", cause });
}

/** Sends a request, and returns an answer of status 200 whose body has not been read. */
export function send(t: Target, path: string, sent?: object, signal?: AbortSignal): Promise<Answer> {
  const init: RequestInit = { headers: headersOf(t) };
  if (sent) Object.assign(init, { method: "POST", body: JSON.stringify(sent) });
  return retrying(t.retries, signal, async () => {
    const limit = new Limit(t.timeout, signal);
    try {
      const response = await limit.watch(t.fetch(t.server + path, { ...init, signal: limit.signal }));
      if (response.status !== 200) throw await limit.watch(errorOfAnswer(response));
      return new Answer(response, limit);
    } catch (e) {
      limit.release();
      if (e instanceof SwarError) throw e;
      if (limit.expired) throw new SwarError(`no answer of ${t.server} within ${t.timeout} ms`, { code: "timeout", cause: e });
      throw unreached(t, e);
    }
  });
}

/** Ends a request when its caller aborts it, or when nothing comes for too long. */
class Limit {
  expired = false;
  #controller = new AbortController();
  #leave = () => this.end(this.caller?.reason);

  constructor(
    readonly ms: number,
    readonly caller: AbortSignal | undefined,
  ) {
    caller?.addEventListener("abort", this.#leave);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  async watch<T>(coming: Promise<T>): Promise<T> {
    const timer = setTimeout(() => {
      this.expired = true;
      this.end();
    }, this.ms);
    try {
      return await coming;
    } finally {
      clearTimeout(timer);
    }
  }

  end(reason?: unknown): void {
    this.#controller.abort(reason);
    this.release();
  }

  release(): void {
    this.caller?.removeEventListener("abort", this.#leave);
  }
}

/** An answer with a body, which is read piece by piece. */
export class Answer {
  readonly headers: Headers;
  #limit: Limit;
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;

  constructor(response: Response, limit: Limit) {
    this.headers = response.headers;
    this.#limit = limit;
    this.#reader = response.body?.getReader();
  }

  header(name: string): string {
    return this.headers.get(name) ?? "";
  }

  /** The next bytes; undefined at the end. A body that ends early is a CutError, one that is aborted the caller's reason. */
  async read(): Promise<Uint8Array | undefined> {
    try {
      const { value } = this.#reader ? await this.#limit.watch(this.#reader.read()) : {};
      if (!value) this.#limit.release();
      return value;
    } catch (e) {
      this.#limit.release();
      this.#limit.caller?.throwIfAborted();
      throw this.cut(e);
    }
  }

  async text(): Promise<string> {
    let text = "";
    for await (const line of this.lines()) text += line + "\n";
    return text;
  }

  async *lines(): AsyncGenerator<string> {
    const decoder = new TextDecoder();
    let rest = "";
    for (let bytes = await this.read(); bytes; bytes = await this.read()) {
      const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      yield* lines;
    }
    if (rest) yield rest;
  }

  cut(cause?: unknown): CutError {
    const why = this.#limit.expired ? `nothing came for ${this.#limit.ms} ms` : "its connection was cut";
    return new CutError(`the audio ended early: ${why}`, { code: "cut", requestId: this.header("x-request-id"), cause });
  }

  /** Closes the connection at once. */
  close(): void {
    this.#limit.end();
  }
}
