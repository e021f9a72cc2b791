// Signing in to the portal. The ID token is kept in memory alone; what outlives the page is a cookie that scripts cannot read, and beside it
// a readable one that says that there is one.
import { PlaygroundKey } from "./play/key";

export interface Failure {
  code: string;
  text: string;
}

interface Me {
  orgs: { id: string; role: string; projects: { id: string }[] }[];
  voices: { name: string }[];
}

export interface Ways {
  email: boolean;
}

/** What a person who has signed in speaks with. */
export interface Seat {
  key: PlaygroundKey;
  voices: string[];
  mayPlay: boolean;
}

/** A word that no other request has; pages without TLS have no randomUUID. */
function once(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("");
}

async function call<V>(path: string, init: RequestInit): Promise<V | Failure> {
  let answer: Response;
  try {
    answer = await fetch(path, init);
  } catch {
    return { code: "unreached", text: "" };
  }
  if (answer.ok) return (await answer.json()) as V;
  const text = await answer.json().then((b: { error?: string }) => b.error ?? "", () => "");
  return { code: answer.headers.get("x-error-code") ?? String(answer.status), text };
}

function post<V>(path: string, body: unknown, headers: Record<string, string> = {}): Promise<V | Failure> {
  return call<V>(path, { method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json", ...headers } });
}

export function failed(v: object): v is Failure {
  return "code" in v && "text" in v;
}

export const ways = () => call<Ways>("/auth/v1/ways", {});
export const sendCode = (email: string) => post<object>("/auth/v1/email-link", { email });

export class Session {
  private token = "";
  private endsAt = 0;
  private refreshing: Promise<Failure | undefined> | undefined;

  /** Whether a refresh may work: asking without a session would be an error in the console of every visitor. */
  get exists(): boolean {
    return document.cookie.split("; ").includes("swar_session=1");
  }

  setUp(token: string, email: string): Promise<Failure | undefined> {
    return this.enter(post("/auth/v1/setup", { token, email, session: "cookie" }));
  }

  verify(email: string, code: string): Promise<Failure | undefined> {
    return this.enter(post("/auth/v1/verify", { email, code, session: "cookie" }));
  }

  /** A seat in the first project of the first organisation. */
  async seat(): Promise<Seat | Failure> {
    const me = await this.get<Me>("/portal/v1/me");
    if (failed(me)) return me;
    const org = me.orgs[0];
    const project = org?.projects[0]?.id;
    if (!org || !project) return { code: "no_project", text: "" };
    const mint = async () => {
      const refused = await this.fresh();
      const made = refused ?? (await post<{ key: string; expires_in_s: number }>("/portal/v1/playground-key", { project_id: project }, this.headers({ "idempotency-key": once() })));
      if (failed(made)) throw new Error(made.text || made.code);
      return made;
    };
    return { key: new PlaygroundKey(project, mint), voices: me.voices.map((v) => v.name), mayPlay: org.role !== "viewer" };
  }

  private async get<V>(path: string): Promise<V | Failure> {
    return (await this.fresh()) ?? call<V>(path, { headers: this.headers({}) });
  }

  private headers(more: Record<string, string>): Record<string, string> {
    return { authorization: "Bearer " + this.token, ...more };
  }

  /** Sees to a token that is good for ten minutes more. Requests that want one at the same time share the refresh. */
  private fresh(): Promise<Failure | undefined> {
    if (Date.now() < this.endsAt - 600_000) return Promise.resolve(undefined);
    this.refreshing ??= this.enter(post("/auth/v1/refresh", {})).finally(() => (this.refreshing = undefined));
    return this.refreshing;
  }

  private async enter(answer: Promise<{ id_token: string; expires_in: number } | Failure>): Promise<Failure | undefined> {
    const begun = Date.now();
    const got = await answer;
    if (failed(got)) return got;
    this.token = got.id_token;
    this.endsAt = begun + got.expires_in * 1000;
    return undefined;
  }
}
