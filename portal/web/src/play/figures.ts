// The figures under the waveform, from the events of one take.

import { FRAME, RATE } from "./queue";
import type { SocketEvent } from "./socket";

export interface Figures {
  firstSoundMs?: number; // Play pressed to the first sample out of the queue, and the loudspeaker's own delay
  outputMs?: number; // of it, the loudspeaker's part
  serverMs?: number;
  queueMs?: number;
  prefillCached?: boolean; // of all chunks so far
  prefillMs: number; // of those that were not cached
  savedMs: number; // of those that were
  rtf?: number;
  bufferS: number; // arrived and not played
  underruns: number;
  bytes: number;
  frames: number;
  billedFrames?: number;
}

export function newFigures(): Figures {
  return { prefillMs: 0, savedMs: 0, bufferS: 0, underruns: 0, bytes: 0, frames: 0 };
}

/** What f is after an event of the socket. */
export function after(f: Figures, e: SocketEvent): Figures {
  const n = (field: string) => (typeof e[field] === "number" ? (e[field] as number) : undefined);
  switch (e.type) {
    case "start":
      return { ...f, queueMs: n("queue_ms") };
    case "first_audio_ms":
      return { ...f, serverMs: n("ms") };
    case "chunk_end": {
      const cached = e.prefill_cached === true;
      const ms = n("prefill_ms") ?? 0;
      return {
        ...f,
        prefillCached: cached && f.prefillCached !== false,
        prefillMs: f.prefillMs + (cached ? 0 : ms),
        savedMs: f.savedMs + (cached ? ms : 0),
      };
    }
    case "end":
      return { ...f, rtf: n("rtf"), billedFrames: n("billed_frames"), queueMs: n("queue_ms") ?? f.queueMs };
    case "cancelled":
      return { ...f, billedFrames: n("billed_frames") };
  }
  return f;
}

export function arrived(f: Figures, bytes: number): Figures {
  const total = f.bytes + bytes;
  return { ...f, bytes: total, frames: Math.floor(total / (2 * FRAME)) };
}

export function progressed(f: Figures, queued: number, underruns: number): Figures {
  return { ...f, bufferS: queued / RATE, underruns };
}

/** What frames cost in paise: 750 frames are a minute, and a minute costs 20 paise. A bill adds up a month before it rounds. */
export function paise(frames: number): string {
  return ((frames * 20) / 750).toFixed(2);
}
