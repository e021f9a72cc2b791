// The playground's keys of this tab. They stay in sessionStorage, which ends with the tab, and are never in a URL or in localStorage.

export interface Minted {
  id: string;
  key: string;
  expires_in_s: number;
}

export interface Kept {
  id: string;
  key: string;
  made: number; // ms
  until: number; // ms; the end of its life
}

const PREFIX = "swar.play.";

export const slotOf = (project: string) => PREFIX + project;

const slots = () => Object.keys(sessionStorage).filter((slot) => slot.startsWith(PREFIX));

/** The ids of all that are kept. */
export const keptKeys = () => slots().flatMap((slot) => keptIn(slot)?.id ?? []);

export const forgetKeys = () => slots().forEach((slot) => sessionStorage.removeItem(slot));

export function keptIn(slot: string): Kept | undefined {
  try {
    const kept = JSON.parse(sessionStorage.getItem(slot) ?? "null") as Kept | null;
    return kept?.id ? kept : undefined; // an older page kept none
  } catch {
    return undefined;
  }
}
