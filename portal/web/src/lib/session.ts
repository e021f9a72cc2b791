// Who has signed in. The ID token is kept in memory alone. What outlives the page is, for the server's own sign-in, a cookie that scripts
// cannot read, and beside it a readable one that says that there is one; other providers are asked again.

import { signal } from "@preact/signals";
import { call, failed, once, post, send, type Answer, type Failure } from "./api";
import { DRAFT } from "./draft";
import { forgetKeys, keptKeys, stopUsingKeys, type Minted as NewKey } from "./playkeys";
import { leave, renewed } from "./providers";
import type { Me, PlaygroundKey as Minted, Session as Signed, Ways } from "./portal.gen";

const LIFE_LEFT = 600_000; // ms that a token must have left, else it is renewed; a sixth of its life where that is shorter
const ENDED = "ended"; // said to other tabs: this server has ended the session, and the playground keys with it
const REFRESH = "swar-refresh"; // a lock and a channel: all tabs share one session

export const me = signal<Me | undefined>(undefined);

/** Why the page is about to show the sign-in: the code of the failure that ended the session. */
export const ended = signal("");

let token = "";
let endsAt = 0;
let margin = 0; // ms
let refreshing: Promise<Failure | undefined> | undefined;
const others = "BroadcastChannel" in window ? new BroadcastChannel(REFRESH) : undefined;

export const ways = () => call<Ways>("/auth/v1/ways");
export const sendLink = (email: string) => post<object>("/auth/v1/email-link", { email });

/** Whether a session may exist: asking without one would be an error in the console of every visitor. */
export function mayExist(): boolean {
  return token !== "" || ofThisServer() || renewed.possible();
}

export const setUp = (link: string, email: string) =>
  enter(post<Signed>("/auth/v1/setup", { token: link, email, session: "cookie" }));
export const verify = (email: string, code: string) =>
  enter(post<Signed>("/auth/v1/verify", { email, code, session: "cookie" }));

/** Takes a token that another provider has given. */
export function take(idToken: string, expiresIn: number) {
  token = idToken;
  endsAt = Date.now() + expiresIn * 1000;
  margin = Math.min(LIFE_LEFT, (expiresIn * 1000) / 6);
}

async function enter(answer: Promise<Answer<Signed>>): Promise<Failure | undefined> {
  const got = await answer;
  if (failed(got)) return got;
  take(got.id_token, got.expires_in);
  ended.value = "";
  return undefined;
}

/** Milliseconds that the ID token has left. */
export const leftMs = () => Math.max(0, endsAt - Date.now());
export const idToken = () => token;

/** Sees to a token that is good for a while. Requests that want one at the same time share the refresh, and so do tabs, where there are locks. */
function fresh(): Promise<Failure | undefined> {
  if (leftMs() > margin) return Promise.resolve(undefined);
  if (ended.value) return Promise.resolve({ failed: true, code: ended.value, text: "", requestID: "" }); // the page is on its way out
  refreshing ??= refresh().finally(() => (refreshing = undefined));
  return refreshing;
}

async function refresh(): Promise<Failure | undefined> {
  const ask = async () => {
    const other = await renewed.ask();
    if (!other) return enter(post<Signed>("/auth/v1/refresh", {}));
    if (failed(other)) return other;
    take(other.idToken, other.expiresIn);
    return undefined;
  };
  const refused = await (navigator.locks ? navigator.locks.request(REFRESH, ask) : ask());
  if (refused && refused.code !== "unreached" && !refused.code.startsWith("5")) forget(refused.code);
  return refused;
}

/** Whether this server itself keeps the session, and not another that has signed somebody in. */
const ofThisServer = () => document.cookie.split("; ").includes("swar_session=1");

/** Ends the session in this tab; the page shows the sign-in. */
function forget(why: string) {
  token = "";
  endsAt = 0;
  me.value = undefined;
  forgetKeys();
  ended.value = why;
}

/**
 * Drops what was typed in this tab, and ends its playground keys: the next person at this computer gets neither. What still runs with the
 * keys stops first. A server that signs people in itself ends the keys with the session.
 */
async function clear(keysEnd: boolean) {
  me.value = undefined; // the playground closes its socket, and asks for no other key
  sessionStorage.removeItem(DRAFT);
  await stopUsingKeys();
  const ids = keptKeys();
  if (keysEnd || ids.length === 0 || (await fresh())) return;
  const init = { method: "DELETE", headers: { authorization: "Bearer " + token }, keepalive: true };
  await Promise.all(ids.map((id) => fetch("/portal/v1/keys/" + id, init).catch(() => undefined)));
}

/** Ends the session here when it was ended in another tab. */
export function listen() {
  others?.addEventListener("message", (e) => void clear(e.data === ENDED).finally(() => forget("signed_out")));
}

export async function signOut() {
  const ours = ofThisServer();
  await clear(ours);
  if (ours) await post("/auth/v1/logout", {}); // a server that mails no links has no such route
  leave();
  others?.postMessage(ours ? ENDED : "out");
  forget("signed_out");
}

/** Asks the portal. A token that is refused as expired is renewed, once; a session that is gone leads to the sign-in. */
export async function portal<V>(path: string, init: RequestInit & { raw?: boolean } = {}): Promise<Answer<V>> {
  for (let again = false; ; again = true) {
    const refused = await fresh();
    if (refused) return refused;
    const asked = {
      ...init,
      headers: { ...(init.headers as Record<string, string>), authorization: "Bearer " + token },
    };
    const answer = init.raw ? await send("/portal/v1" + path, asked) : await call<V>("/portal/v1" + path, asked);
    if (!failed(answer)) return answer as V;
    if (answer.code === "token_expired" && !again) {
      endsAt = 0;
      continue;
    }
    if (SESSION_GONE.has(answer.code)) forget(answer.code);
    if (answer.code === "not_member" && me.value) void lookAgain();
    return answer;
  }
}

const SESSION_GONE = new Set(["token_expired", "missing_token", "invalid_token"]);

function change<V>(method: string, path: string, body?: unknown, key?: string): Promise<Answer<V>> {
  const headers: Record<string, string> = body === undefined ? {} : { "content-type": "application/json" };
  if (key) headers["idempotency-key"] = key;
  return portal<V>(path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) });
}

/** POST with the idempotency key of its form. */
export const create = <V>(path: string, body: unknown, key: string) => change<V>("POST", path, body, key);
export const patch = <V>(path: string, body: unknown) => change<V>("PATCH", path, body);
/** PUT of what was read as a version; fails with 412 where there is a newer one. */
export const replace = <V>(path: string, body: unknown, version: number) =>
  portal<V>(path, {
    method: "PUT",
    headers: { "content-type": "application/json", "if-match": `"${version}"` },
    body: JSON.stringify(body),
  });
export const remove = <V>(path: string) => change<V>("DELETE", path);

/** Asks who has signed in, what they may see, and keeps it. */
export async function meet(): Promise<Failure | undefined> {
  const answer = await portal<Me>("/me");
  if (failed(answer)) return answer;
  me.value = answer;
  return undefined;
}

let looking: Promise<void> | undefined;

/** Looks what is left for somebody who is in an organisation no longer. Nothing: they read why where they sign in. */
function lookAgain(): Promise<void> {
  looking ??= meet()
    .then((failure) => {
      if (failure?.code === "not_invited" || me.value?.orgs.length === 0) forget("removed");
    })
    .finally(() => (looking = undefined));
  return looking;
}

/** A key for the playground of a project. */
export async function mint(project: string): Promise<NewKey> {
  if (!me.value) throw new Error("not signed in");
  const made = await create<Minted>("/playground-key", { project_id: project }, once());
  if (failed(made)) throw new Error(made.text || made.code);
  if (!made.key) throw new Error("the answer has no key");
  return { id: made.row.id, key: made.key, expires_in_s: made.expires_in_s };
}
