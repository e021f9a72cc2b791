import type { ChunkEvent, SwarEvent, Word } from "./events.js";

const longest = 42; // characters of a caption, as broadcasters have it

/** Captions of an utterance, made of its `chunk` and `words` events, as WebVTT. */
export function toVTT(events: Iterable<SwarEvent>): string {
  const chunks = new Map<string, ChunkEvent>();
  let vtt = "WEBVTT\n";
  for (const e of events) {
    if (e.type === "chunk") chunks.set(`${e.request_id} ${e.chunk}`, e);
    if (e.type !== "words") continue;
    const chunk = chunks.get(`${e.request_id} ${e.chunk}`);
    if (chunk) for (const cue of cuesOf(chunk, e.words)) vtt += `\n${cue}\n`;
  }
  return vtt;
}

/** Words with times → captions with the marks that stand around the words. */
function* cuesOf(chunk: ChunkEvent, words: Word[]): Generator<string> {
  const letters = Array.from(chunk.text);
  for (let first = 0; first < words.length; ) {
    const from = first === 0 ? 0 : words[first]!.char_start - chunk.char_start;
    let next = first + 1;
    while (next < words.length && words[next]!.char_end - chunk.char_start - from <= longest) next++;
    const to = next < words.length ? words[next]!.char_start - chunk.char_start : letters.length;
    const text = letters.slice(from, to).join("").trim();
    yield `${time(words[first]!.start_s)} --> ${time(words[next - 1]!.end_s)}\n${escaped(text)}`;
    first = next;
  }
}

/** 3661.5 → 01:01:01.500 */
function time(seconds: number): string {
  return new Date(Math.round(seconds * 1000)).toISOString().slice(11, 23);
}

function escaped(text: string): string {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}
