// The playground's key. It lives two hours, and ten of them live in a project: a reload must not make an eleventh, so the key stays in
// sessionStorage, which ends with the tab. It is never in a URL or in localStorage.

export interface Minted {
  key: string;
  expires_in_s: number;
}

interface Kept {
  key: string;
  made: number; // ms
  until: number; // ms; the end of its life
}

export class PlaygroundKey {
  private minting: Promise<string> | undefined;

  /** mint asks the portal for a key of this project. */
  constructor(
    private readonly project: string,
    private readonly mint: () => Promise<Minted>,
  ) {}

  private get slot(): string {
    return "swar.play." + this.project;
  }

  /** The key that is kept, or a new one after 90 % of its life. again asks for a new one in any case: the kept one was refused. */
  get(again = false): Promise<string> {
    const kept = again ? undefined : this.kept();
    if (kept) return Promise.resolve(kept.key);
    this.minting ??= this.make().finally(() => (this.minting = undefined));
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
    const kept = parse(sessionStorage.getItem(this.slot));
    if (!kept || Date.now() >= kept.made + 0.9 * (kept.until - kept.made)) return undefined;
    return kept;
  }

  private async make(): Promise<string> {
    this.forget();
    const made = Date.now();
    const { key, expires_in_s } = await this.mint();
    const kept: Kept = { key, made, until: made + expires_in_s * 1000 };
    sessionStorage.setItem(this.slot, JSON.stringify(kept));
    return key;
  }
}

function parse(s: string | null): Kept | undefined {
  try {
    const k = JSON.parse(s ?? "null") as Partial<Kept> | null;
    return k && typeof k.key === "string" && typeof k.made === "number" && typeof k.until === "number"
      ? (k as Kept)
      : undefined;
  } catch {
    return undefined;
  }
}
