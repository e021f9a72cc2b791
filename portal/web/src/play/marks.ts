// Where spans and chunks lie. The server counts code points of the trimmed text, a page counts UTF-16 units of what was typed.

import type { Preview, Span } from "./wire";

export type Family = "qty" | "code" | "time" | "name" | "plain";

const FAMILIES: Record<string, Family> = {
  amount: "qty",
  number: "qty",
  percent: "qty",
  unit: "qty",
  fraction: "qty",
  decimal: "qty",
  ordinal: "qty",
  range: "qty",
  ratio: "qty",
  code: "code",
  phone: "code",
  masked: "code",
  pincode: "code",
  version: "code",
  time: "time",
  date: "time",
  duration: "time",
  year: "time",
  acronym: "name",
  abbreviation: "name",
  sign: "name",
  url: "name",
  email: "name",
  handle: "name",
  hashtag: "name",
  emoji: "plain",
  markup: "plain",
  list: "plain",
};

/** The family of a kind. New kinds may come at any time; one that is not known is drawn as letters are. */
export function familyOf(kind: string): Family {
  return Object.hasOwn(FAMILIES, kind) ? FAMILIES[kind]! : "name";
}

// White space as the server has it, which takes control characters for spaces. String.trim takes away U+FEFF too, and leaves U+0085.
const SPACE = "[\\u0001-\\u0020\\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]";
const LEADING = new RegExp(`^${SPACE}+`);
const TRAILING_ONE = new RegExp(SPACE);

/** The text as the server counts it, and how many UTF-16 units were cut from its front. */
export function trimmed(text: string): { text: string; cut: number } {
  const cut = LEADING.exec(text)?.[0].length ?? 0;
  let end = text.length;
  while (end > cut && TRAILING_ONE.test(text[end - 1]!)) end--;
  return { text: text.slice(cut, end), cut };
}

export function countPoints(text: string): number {
  let n = 0;
  for (const _ of text) n++;
  return n;
}

/** units[i] is the place of code point i in UTF-16 units; one more entry holds the length. */
export function unitsOf(text: string): Uint32Array {
  const units = new Uint32Array(countPoints(text) + 1);
  let i = 0;
  let at = 0;
  for (const c of text) {
    units[i++] = at;
    at += c.length;
  }
  units[i] = at;
  return units;
}

export interface Piece {
  text: string;
  span?: Span;
  index: number; // of the span in the answer; -1 outside spans
}

/** The typed text cut at the spans, for the layer behind the textarea. All pieces together are the text, unit for unit. */
export function sourcePieces(typed: string, spans: readonly Span[]): Piece[] {
  const { text, cut } = trimmed(typed);
  const units = unitsOf(text);
  const at = (point: number) => cut + (units[Math.min(Math.max(point, 0), units.length - 1)] ?? 0);
  return cutAt(
    typed,
    0,
    typed.length,
    spans.map((span, index) => ({ span, index, start: at(span.start), end: at(span.end) })),
  );
}

/** What will be spoken, chunk by chunk. A span that reaches over the end of a chunk has a piece in both. */
export function spokenPieces(p: Preview): Piece[][] {
  const units = unitsOf(p.normalized);
  const at = (point: number) => units[Math.min(Math.max(point, 0), units.length - 1)] ?? 0;
  const places = p.spans.map((span, index) => ({ span, index, start: at(span.out_start), end: at(span.out_end) }));
  return p.chunks.map((c) => cutAt(p.normalized, at(c.char_start), at(c.char_end), places));
}

interface Place {
  span: Span;
  index: number;
  start: number;
  end: number;
}

function cutAt(text: string, from: number, to: number, places: readonly Place[]): Piece[] {
  const pieces: Piece[] = [];
  let done = from;
  for (const { span, index, start, end } of places) {
    const a = Math.max(start, done);
    const b = Math.min(end, to);
    if (b <= a) continue; // silent, elsewhere, or inside the one before
    if (a > done) pieces.push({ text: text.slice(done, a), index: -1 });
    pieces.push({ text: text.slice(a, b), span, index });
    done = b;
  }
  if (done < to) pieces.push({ text: text.slice(done, to), index: -1 });
  return pieces;
}
