import { errorOf, type SwarError } from "./errors.js";

// The members are those of the server's messages. Times are seconds, or milliseconds in `_ms`; places count code points
// of the normalised text.

interface Head {
  request_id: string;
}

/** A worker has begun to speak. */
export interface StartEvent extends Head {
  type: "start";
  voice: string;
  format: string;
  chunks: number;
  /** What will be spoken; of an utterance that is fed, its first sentence. */
  normalized: string;
  seed: number;
  queue_ms: number;
  model: string;
  /** Characters that the model cannot speak and left out. */
  unspoken?: string;
  disclosure?: string;
  fed?: boolean;
  timestamps?: "words" | "none";
}

/** A piece of the text begins. */
export interface ChunkEvent extends Head {
  type: "chunk";
  chunk: number;
  text: string;
  tokens: number;
  audio_start_s: number;
  char_start: number;
  char_end: number;
}

/** 80 ms of audio at first, then up to 320 ms: 16 bits little-endian, mono, 24 kHz, unless another format was asked for. */
export interface AudioEvent extends Head {
  type: "audio";
  pcm: Uint8Array;
}

/** How long the first audio took on the server. */
export interface FirstAudioEvent extends Head {
  type: "first_audio_ms";
  chunk: number;
  ms: number;
}

export interface Word {
  word: string;
  char_start: number;
  char_end: number;
  start_s: number;
  end_s: number;
}

/** When each word of a chunk sounds. */
export interface WordsEvent extends Head {
  type: "words";
  chunk: number;
  /** False where the model itself knows the times. */
  estimated: boolean;
  words: Word[];
}

/** A piece is complete. */
export interface ChunkEndEvent extends Head {
  type: "chunk_end";
  chunk: number;
  frames: number;
  audio_s: number;
  eos: boolean;
}

/** All text before a flush has been spoken. */
export interface FlushedEvent extends Head {
  type: "flushed";
  audio_s: number;
  char_end: number;
}

/** The utterance is complete. */
export interface EndEvent extends Head {
  type: "end";
  audio_s: number;
  frames: number;
  billed_frames: number;
  chunks: number;
  seed: number;
  queue_ms: number;
  ttfa_ms: number;
  wall_ms: number;
  rtf: number;
  finished_by?: string;
}

/** The utterance was stopped; `chars_spoken` is how much of the normalised text was sent as audio. */
export interface CancelledEvent extends Head {
  type: "cancelled";
  audio_s: number;
  frames: number;
  billed_frames: number;
  chunk: number;
  chars_spoken: number;
}

export type SwarEvent =
  | StartEvent
  | ChunkEvent
  | AudioEvent
  | FirstAudioEvent
  | WordsEvent
  | ChunkEndEvent
  | FlushedEvent
  | EndEvent
  | CancelledEvent;

const known = new Set(["start", "chunk", "first_audio_ms", "words", "chunk_end", "flushed", "end", "cancelled"]);

interface ErrorMessage extends Head {
  type: "error";
  error: string;
  status: number;
  code?: string;
  retry_after?: number;
}
interface Base64Audio extends Head {
  type: "audio";
  audio: string;
}

/** Reads a message of the server; undefined for types that later servers may add. */
export function eventOf(text: string): SwarEvent | { failed: SwarError; request_id: string } | undefined {
  const m = JSON.parse(text) as SwarEvent | ErrorMessage | Base64Audio;
  if (m.type === "error") {
    const about = { status: m.status, code: m.code, requestId: m.request_id, retryAfter: m.retry_after };
    return { failed: errorOf(m.error, about), request_id: m.request_id };
  }
  if (m.type === "audio" && "audio" in m) {
    const pcm = Uint8Array.from(atob(m.audio), (c) => c.charCodeAt(0));
    return { type: "audio", request_id: m.request_id, pcm };
  }
  return known.has(m.type) ? (m as SwarEvent) : undefined;
}
