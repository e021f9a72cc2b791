// The language of the page, and words in both. A function that words() makes reads the language as a signal, so that whoever shows
// its text is rendered again when the language changes.

import { signal } from "@preact/signals";

export type Language = "en" | "hi";
export type Values = Record<string, string | number>;

/** The language that was chosen, else the first that the browser wants and there is. */
function wanted(): Language {
  const all = [localStorage.getItem("swar.language") ?? "", ...navigator.languages];
  return all.map((l) => l.slice(0, 2)).find((l): l is Language => l === "en" || l === "hi") ?? "en";
}

export const language = signal<Language>(wanted());

export function chooseLanguage(l: Language) {
  localStorage.setItem("swar.language", l);
  language.value = l;
}

/** Texts by key; {name} stands for a value. The compiler sees to it that both languages have the same keys. */
export function words<K extends string>(en: Record<K, string>, hi: Record<NoInfer<K>, string>) {
  const all = { en, hi };
  return (key: K, values: Values = {}): string =>
    (all[language.value][key] ?? key).replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}

/** What words() knows of a key that comes from elsewhere, such as an error code; "" for nothing. */
export function known(t: (key: never) => string, has: object, key: string): string {
  return key in has ? t(key as never) : "";
}
