// One sentence of each voice, spoken by the server itself, for who has no key yet.

import { api } from "./here";
import { call, failed } from "./api";

let asked: Promise<string[]> | undefined;

/** The voices that can be heard without a key; the server makes samples when it has nothing else to do. */
export function sampleVoices(): Promise<string[]> {
  asked ??= call<{ voices: string[] }>(api + "/samples").then((a) => {
    if (!failed(a) && a.voices.length > 0) return a.voices;
    asked = undefined; // there may be some later
    return [];
  });
  return asked;
}

export const sampleAddress = (voice: string) => `${api}/samples/${encodeURIComponent(voice)}.wav`;
