// Calls of the HTTP API. An answer is a value or a Failure, never an exception: a page has to show both.

import { signal } from "@preact/signals";

export interface Failure {
  failed: true;
  code: string; // x-error-code, "unreached" where no answer came
  text: string; // what the server says of it
  requestID: string;
}

export type Answer<V> = V | Failure;

export function failed(v: unknown): v is Failure {
  return typeof v === "object" && v !== null && (v as Partial<Failure>).failed === true;
}

/** Whether the last call found no server. */
export const away = signal(false);

const TRIES = 3; // waits for a server that says when to come back
const LONGEST_WAIT = 10_000; // ms

/** A word that no other request has. Pages without TLS have no randomUUID. */
export function once(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("");
}

/** Sends a request; waits and asks again where the server says so, which is safe: what changes something has an idempotency key. */
export async function send(path: string, init: RequestInit = {}): Promise<Answer<Response>> {
  for (let tries = 0; ; tries++) {
    let answer: Response;
    try {
      answer = await fetch(path, init);
    } catch {
      return unreached();
    }
    if (answer.ok) return answer;
    const wait = Number(answer.headers.get("retry-after") ?? NaN) * 1000;
    const asked = (answer.status === 429 || answer.status === 503) && wait <= LONGEST_WAIT && tries < TRIES;
    if (!asked) return failure(answer);
    await new Promise((ok) => setTimeout(ok, wait));
  }
}

async function failure(answer: Response): Promise<Failure> {
  const text = await answer.json().then(
    (b: { error?: string }) => b.error ?? "",
    () => "",
  );
  return {
    failed: true,
    code: answer.headers.get("x-error-code") ?? String(answer.status),
    text,
    requestID: answer.headers.get("x-request-id") ?? "",
  };
}

export async function call<V>(path: string, init: RequestInit = {}): Promise<Answer<V>> {
  const answer = await send(path, init);
  if (failed(answer)) return answer;
  try {
    return (await answer.json()) as V;
  } catch {
    return { failed: true, code: "unreached", text: "", requestID: "" }; // cut on its way
  }
}

export function post<V>(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer<V>> {
  return call<V>(path, {
    method: "POST",
    body: JSON.stringify(body),
    headers: { "content-type": "application/json", ...headers },
  });
}

let looking = false;

/** The failure of a request that found no server; the page shows that until there is one again. */
export function unreached(): Failure {
  away.value = true;
  if (!looking) {
    looking = true;
    setTimeout(look, 1000);
  }
  return { failed: true, code: "unreached", text: "", requestID: "" };
}

// The console of a browser counts every failed request, so only one of the page looks for the server.
async function look() {
  if (!(await isThere())) return void setTimeout(look, 2000);
  looking = false;
  away.value = false;
}

/** Whether the server of the page answers. */
export function isThere(): Promise<boolean> {
  return fetch("/favicon.svg", { method: "HEAD", cache: "no-store" }).then(
    () => true,
    () => false,
  );
}

/** The words of a query; empty values are left out. */
export function query(values: Record<string, string | number | undefined>): string {
  const q = new URLSearchParams();
  for (const [k, v] of Object.entries(values)) if (v !== undefined && v !== "") q.set(k, String(v));
  const text = q.toString();
  return text && "?" + text;
}
