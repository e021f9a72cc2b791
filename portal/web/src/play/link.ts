// “Link to these settings”: the draft and its settings in the fragment, which no server sees. The key is never in it.

import { isSeed, type Settings } from "./wire";

export function toFragment(text: string, s: Settings): string {
  const q = new URLSearchParams({ text, voice: s.voice, temperature: String(s.temperature) });
  if (s.seed) q.set("seed", s.seed);
  if (s.enDigits) q.set("en_digits", "1");
  if (s.raw) q.set("raw", "1");
  return "#" + q.toString();
}

/** What a fragment says; fields that make no sense are left out, for anyone may write one. */
export function fromFragment(hash: string): { text?: string; settings: Partial<Settings> } {
  const q = new URLSearchParams(hash.replace(/^#/, ""));
  const settings: Partial<Settings> = {};
  const voice = q.get("voice");
  if (voice) settings.voice = voice.slice(0, 128);
  const temperature = Number(q.get("temperature") ?? NaN);
  if (temperature >= 0 && temperature <= 2) settings.temperature = temperature;
  const seed = q.get("seed");
  if (seed && isSeed(seed)) settings.seed = seed;
  if (q.get("en_digits") === "1") settings.enDigits = true;
  if (q.get("raw") === "1") settings.raw = true;
  const text = q.get("text");
  return text === null ? { settings } : { text: text.slice(0, 20_000), settings };
}
