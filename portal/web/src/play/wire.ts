// Requests and answers of the synthesis API as text. Seeds have 64 bits and JavaScript's numbers 53, so a seed is a string of digits here
// and is never parsed.

export interface Settings {
  voice: string;
  temperature: number;
  seed: string; // digits; "" for a random one
  enDigits: boolean;
  raw: boolean;
}

export interface Span {
  start: number;
  end: number;
  kind: string;
  spoken: string;
  out_start: number;
  out_end: number;
}

export interface Chunk {
  text: string;
  tokens: number;
  char_start: number;
  char_end: number;
}

export interface Preview {
  normalized: string;
  chars: number;
  input_chars: number;
  chunks: Chunk[];
  spans: Span[];
  disclosure?: string;
  unspoken?: string;
}

/** The most code points of a text after trimming. */
export const MAX_CHARS = 4000;

const MAX = 9223372036854775807n;
const MIN = -9223372036854775808n;

/** Whether s is a seed: an integer of 64 bits with a sign. "" is one that the server draws. */
export function isSeed(s: string): boolean {
  if (s === "") return true;
  if (!/^-?(0|[1-9]\d{0,18})$/.test(s)) return false;
  const n = BigInt(s);
  return n >= MIN && n <= MAX;
}

/** The body of POST /v1/tts, which is also the message of a socket. */
export function body(text: string, s: Settings, more: Record<string, unknown> = {}): string {
  const fields: Record<string, unknown> = { text, voice: s.voice, temperature: s.temperature };
  if (s.enDigits) fields.en_digits = true;
  if (s.raw) fields.raw = true;
  const json = JSON.stringify({ ...fields, ...more });
  return s.seed === "" ? json : json.slice(0, -1) + `,"seed":${s.seed}}`;
}

/** The digits of a whole number in a JSON text. A quote inside a string is escaped, so the name is never found in one. */
export function digitsOf(json: string, field: string): string {
  return new RegExp(`"${field}":(-?\\d+)`).exec(json)?.[1] ?? "";
}

/** 16 random bytes as hex; pages without TLS have no crypto.randomUUID. */
export function newID(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("");
}

/** A random seed that every JSON parser reads exactly. */
export function newSeed(): string {
  const [high, low] = crypto.getRandomValues(new Uint32Array(2));
  return String((high! & 0x1fffff) * 2 ** 32 + low!);
}
