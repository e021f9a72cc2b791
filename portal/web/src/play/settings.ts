// What the playground is given, and the settings that it starts with.

import type { SocketKey } from "./socket";
import type { Settings } from "./wire";

export type T = (key: string, values?: Record<string, string | number>) => string;

export interface PlaygroundProps {
  t: T;
  api: string; // origin of the synthesis API
  worklet: string; // address of the module of worklet.ts
  key_: SocketKey;
  voices: readonly string[];
  mayPlay: boolean; // false for viewers
}

export function defaults(voices: readonly string[]): Settings {
  return { voice: voices[0] ?? "anjura", temperature: 0.3, seed: "", enDigits: false, raw: false };
}
