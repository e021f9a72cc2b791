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

const LONGEST_WAIT = 2000; // ms that sign-out waits for what it has aborted

const running = new Map<AbortController, Promise<unknown>>();
let stopped = false;
let closed = false; // the keys that are kept are being revoked: no other is kept

/**
 * Runs what needs a key of this tab. Sign-out aborts it by its controller, and waits for its end before it revokes the keys: a request with a
 * revoked key would be an error in the console. After that nothing starts, as the document is left.
 */
export async function withKeys<V>(
  act: (signal: AbortSignal) => Promise<V>,
  controller = new AbortController(),
): Promise<V> {
  if (stopped) controller.abort();
  controller.signal.throwIfAborted();
  const acting = act(controller.signal);
  running.set(controller, acting);
  try {
    return await acting;
  } finally {
    running.delete(controller);
  }
}

/** Aborts everything that withKeys runs, and waits for its end, though not for long. */
export async function stopUsingKeys() {
  stopped = true;
  for (const controller of running.keys()) controller.abort();
  await Promise.race([Promise.allSettled(running.values()), new Promise((ok) => setTimeout(ok, LONGEST_WAIT))]);
  closed = true;
}

export function keep(slot: string, kept: Kept) {
  if (!closed) sessionStorage.setItem(slot, JSON.stringify(kept));
}

export function keptIn(slot: string): Kept | undefined {
  try {
    const kept = JSON.parse(sessionStorage.getItem(slot) ?? "null") as Kept | null;
    return kept?.id ? kept : undefined; // an older page kept none
  } catch {
    return undefined;
  }
}
