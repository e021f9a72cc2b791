// What a person has chosen for this browser.

import { effect, signal } from "@preact/signals";

export type Theme = "" | "light" | "dark"; // "" follows the system

export const theme = signal<Theme>((localStorage.getItem("swar.theme") as Theme | null) ?? "");

/** Whether single keys do something (WCAG 2.1.4: they can be switched off). */
export const singleKeys = signal(localStorage.getItem("swar.keys") !== "off");

export function chooseTheme(to: Theme) {
  theme.value = to;
  if (to) {
    localStorage.setItem("swar.theme", to);
    document.documentElement.dataset.theme = to;
    return;
  }
  localStorage.removeItem("swar.theme");
  delete document.documentElement.dataset.theme;
}

effect(() => (singleKeys.value ? localStorage.removeItem("swar.keys") : localStorage.setItem("swar.keys", "off")));
