// Signing in with providers other than the server itself: OpenID Connect by the code flow with PKCE (RFC 7636), Firebase by its REST calls
// for links in mails. The page talks to them itself; the server checks only the ID token that comes of it.

import { failed, type Answer, type Failure } from "./api";
import type { Provider } from "./portal.gen";

const PENDING = "swar.signin"; // sessionStorage: what the way back has to match; localStorage for links in mails, which open in tabs of their own
const KEPT = "swar.provider"; // sessionStorage: with whom this tab has signed in, for the next token

export interface Given {
  idToken: string;
  expiresIn: number; // seconds
}

interface Pending {
  provider: Provider;
  state: string;
  nonce: string;
  verifier: string;
  to: string;
  email?: string;
}

interface Kept {
  provider: Provider;
  refreshToken?: string; // Firebase's; OpenID Connect is asked by another redirect
}

const refused = (code: string, text = ""): Failure => ({ failed: true, code, text, requestID: "" });

function random(): string {
  return base64url(crypto.getRandomValues(new Uint8Array(32)));
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replace(/\+/g, "-")
    .replace(/\//g, "_")
    .replace(/=+$/, "");
}

function read<V>(slot: string, from = sessionStorage): V | undefined {
  try {
    return (JSON.parse(from.getItem(slot) ?? "null") as V | null) ?? undefined;
  } catch {
    return undefined;
  }
}

const here = () => location.origin + "/signin";

/** Goes to the provider's page, and comes back to /signin with a code. Pages without TLS have no SHA-256, and OpenID Connect wants it. */
export async function goTo(provider: Provider, to: string): Promise<Failure | undefined> {
  if (!provider.authorization_endpoint || !provider.token_endpoint) return refused("provider_away");
  if (!crypto.subtle) return refused("needs_tls");
  const pending: Pending = { provider, to, state: random(), nonce: random(), verifier: random() };
  const challenge = base64url(
    new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(pending.verifier))),
  );
  sessionStorage.setItem(PENDING, JSON.stringify(pending));
  const address = new URL(provider.authorization_endpoint);
  const asked = {
    response_type: "code",
    client_id: provider.client_id ?? "",
    redirect_uri: here(),
    scope: "openid email",
    state: pending.state,
    nonce: pending.nonce,
    code_challenge: challenge,
    code_challenge_method: "S256",
  };
  for (const [k, v] of Object.entries(asked)) address.searchParams.set(k, v);
  location.assign(address);
  return undefined;
}

/** What became of a way back from a provider; undefined where the page was opened otherwise. The code leaves the address at once. */
export async function back(): Promise<(Given & { to: string }) | Failure | undefined> {
  const q = new URLSearchParams(location.search);
  const firebase = q.get("oobCode");
  const store = firebase ? localStorage : sessionStorage;
  const pending = read<Pending>(PENDING, store);
  if (!q.has("state") && !firebase) return undefined;
  history.replaceState(null, "", "/signin");
  store.removeItem(PENDING);
  if (!pending) return refused("other_browser");
  if (firebase) return withTo(await firebaseIn(pending.provider, pending.email ?? "", firebase), pending.to);
  if (q.get("state") !== pending.state) return refused("bad_link");
  const code = q.get("code");
  if (!code) return refused("provider_refused", q.get("error_description") ?? q.get("error") ?? "");
  return withTo(await exchange(pending, code), pending.to);
}

function withTo(given: Answer<Given>, to: string) {
  return failed(given) ? given : { ...given, to };
}

async function exchange(p: Pending, code: string): Promise<Answer<Given>> {
  const got = await form<{ id_token?: string; expires_in?: number }>(p.provider.token_endpoint!, {
    grant_type: "authorization_code",
    code,
    redirect_uri: here(),
    client_id: p.provider.client_id ?? "",
    code_verifier: p.verifier,
  });
  if (failed(got)) return got;
  const claims = claimsOf(got.id_token ?? "");
  if (!got.id_token || claims.nonce !== p.nonce) return refused("bad_link");
  if (claims.email_verified !== true) return refused("email_unverified"); // the server would refuse it without saying why
  keep({ provider: p.provider });
  return { idToken: got.id_token, expiresIn: lifeOf(claims, got.expires_in) };
}

/** Asks Firebase to mail a link that leads back to /signin. */
export async function firebaseLink(provider: Provider, email: string, to: string): Promise<Failure | undefined> {
  const pending: Pending = { provider, to, email, state: "", nonce: "", verifier: "" };
  const sent = await json<object>(firebaseAddress(provider, "identitytoolkit.googleapis.com/v1/accounts:sendOobCode"), {
    requestType: "EMAIL_SIGNIN",
    email,
    continueUrl: here(),
    canHandleCodeInApp: true,
  });
  if (failed(sent)) return sent;
  localStorage.setItem(PENDING, JSON.stringify(pending));
  return undefined;
}

async function firebaseIn(provider: Provider, email: string, oobCode: string): Promise<Answer<Given>> {
  const got = await json<{ idToken: string; refreshToken: string; expiresIn: string }>(
    firebaseAddress(provider, "identitytoolkit.googleapis.com/v1/accounts:signInWithEmailLink"),
    { email, oobCode },
  );
  if (failed(got)) return got;
  keep({ provider, refreshToken: got.refreshToken });
  return { idToken: got.idToken, expiresIn: Number(got.expiresIn) };
}

function firebaseAddress(provider: Provider, path: string): string {
  return `${provider.emulator ? provider.emulator + "/" : "https://"}${path}?key=${encodeURIComponent(provider.web_api_key ?? "")}`;
}

async function form<V>(address: string, fields: Record<string, string>): Promise<Answer<V>> {
  return answerOf<V>(
    fetch(address, { method: "POST", body: new URLSearchParams(fields), referrerPolicy: "no-referrer" }),
  );
}

async function json<V>(address: string, body: object): Promise<Answer<V>> {
  return answerOf<V>(
    fetch(address, {
      method: "POST",
      body: JSON.stringify(body),
      headers: { "content-type": "application/json" },
      referrerPolicy: "no-referrer",
    }),
  );
}

async function answerOf<V>(asked: Promise<Response>): Promise<Answer<V>> {
  try {
    const answer = await asked;
    if (answer.ok) return (await answer.json()) as V;
    return refused("provider_refused", (await answer.text()).slice(0, 300));
  } catch {
    return refused("provider_away");
  }
}

interface Claims {
  nonce?: string;
  email_verified?: unknown;
  exp?: number;
}

/** The claims of a token, unchecked: the server checks them; the page looks only whether the token is the answer to its own question. */
function claimsOf(token: string): Claims {
  try {
    return JSON.parse(atob((token.split(".")[1] ?? "").replace(/-/g, "+").replace(/_/g, "/"))) as Claims;
  } catch {
    return {};
  }
}

function lifeOf(claims: Claims, said: number | undefined): number {
  return claims.exp ? claims.exp - Date.now() / 1000 : (said ?? 0);
}

function keep(k: Kept) {
  sessionStorage.setItem(KEPT, JSON.stringify(k));
}

/** Forgets with whom this tab has signed in. */
export function leave() {
  sessionStorage.removeItem(KEPT);
}

/** The next token of this tab's provider. */
export const renewed = {
  possible: () => sessionStorage.getItem(KEPT) !== null,

  /** undefined where the tab has signed in with the server itself. OpenID Connect leads away from the page, and back to where it was. */
  async ask(): Promise<Answer<Given> | undefined> {
    const kept = read<Kept>(KEPT);
    if (!kept) return undefined;
    if (kept.refreshToken) return firebaseNext(kept.provider, kept.refreshToken);
    leave(); // whoever is refused now is asked to sign in, not sent round again
    return (
      (await goTo(kept.provider, location.pathname + location.search + location.hash)) ??
      new Promise<never>(() => undefined)
    );
  },
};

async function firebaseNext(provider: Provider, refreshToken: string): Promise<Answer<Given>> {
  const got = await form<{ id_token: string; refresh_token: string; expires_in: string }>(
    firebaseAddress(provider, "securetoken.googleapis.com/v1/token"),
    { grant_type: "refresh_token", refresh_token: refreshToken },
  );
  if (failed(got)) {
    leave();
    return got;
  }
  keep({ provider, refreshToken: got.refresh_token });
  return { idToken: got.id_token, expiresIn: Number(got.expires_in) };
}
