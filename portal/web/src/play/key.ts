// The playground's key. It lives two hours, and ten of them live in a project: a reload must not make an eleventh, so the key is kept.

import { keep, keptIn, slotOf, withKeys, type Kept, type Minted } from "../lib/playkeys";
import type { SocketKey } from "./socket";

/** Sends a request of the API with the key; again asks for a new one first. Sign-out aborts it. */
export function fetchWith(
  key: SocketKey,
  address: string,
  init: RequestInit,
  { again = false, controller = new AbortController() } = {},
): Promise<Response> {
  return withKeys(async (signal) => {
    const value = await key.get(again);
    return fetch(address, { ...init, headers: value ? { "x-api-key": value } : {}, signal });
  }, controller);
}

/** Whether the page itself has aborted a request. */
export const isAborted = (err: unknown) => err instanceof DOMException && err.name === "AbortError";

export class PlaygroundKey {
  private minting: Promise<string> | undefined;

  /** mint asks the portal for a key of this project. */
  constructor(
    private readonly project: string,
    private readonly mint: () => Promise<Minted>,
  ) {}

  private get slot(): string {
    return slotOf(this.project);
  }

  /** The key that is kept, or a new one after 90 % of its life. again asks for a new one in any case: the kept one was refused. */
  get(again = false): Promise<string> {
    const kept = again ? undefined : this.kept();
    if (kept) return Promise.resolve(kept.key);
    this.minting ??= withKeys(() => this.make()).finally(() => (this.minting = undefined));
    return this.minting;
  }

  /** Milliseconds that the kept key has left, 0 where there is none. */
  leftMs(): number {
    return Math.max(0, (this.kept()?.until ?? 0) - Date.now());
  }

  forget() {
    sessionStorage.removeItem(this.slot);
  }

  private kept(): Kept | undefined {
    const kept = keptIn(this.slot);
    if (!kept || Date.now() >= kept.made + 0.9 * (kept.until - kept.made)) return undefined;
    return kept;
  }

  private async make(): Promise<string> {
    this.forget();
    const made = Date.now();
    const { id, key, expires_in_s } = await this.mint();
    const kept: Kept = { id, key, made, until: made + expires_in_s * 1000 };
    keep(this.slot, kept);
    return key;
  }
}
