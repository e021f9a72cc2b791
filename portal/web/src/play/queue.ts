// What a page and its queue of samples tell each other. A take is one pressing of Play; messages of an older one are ignored.

export const RATE = 24000; // samples a second
export const FRAME = 1920; // samples of one frame, 80 ms
export const RAMP = 120; // samples, 5 ms: short enough not to be heard as a fade, long enough not to click
export const REFILL = 3840; // samples, 160 ms: what is waited for after an underrun

export type ToQueue =
  | { type: "begin"; take: number }
  | { type: "audio"; take: number; samples: ArrayBuffer }
  | { type: "end"; take: number }
  | { type: "stop"; take: number }
  | { type: "tap" };

export type FromQueue =
  | { type: "first"; take: number; at: number; clock: number } // at: audio clock in seconds; clock: wall clock in milliseconds
  | { type: "progress"; take: number; played: number; queued: number; underruns: number }
  | { type: "done" | "stopped"; take: number; played: number; underruns: number; tap?: Int16Array };
