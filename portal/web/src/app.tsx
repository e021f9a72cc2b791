// The portal: who has signed in gets the pages of an organisation; without a portal, or with a pasted key, there is the playground
// alone. Whoever is not signed in is led to the sign-in, and back from there.

import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { failed, type Failure } from "./lib/api";
import { language } from "./lib/language";
import { back } from "./lib/providers";
import { isOld } from "./lib/old";
import { own } from "./lib/own";
import { go, org, place, route } from "./lib/router";
import { ended, listen, mayExist, me, meet, take } from "./lib/session";
import { voicesOf } from "./lib/voices";
import { Shell } from "./shell/shell";
import { Alone, AskKey, FirstRun, Outside } from "./shell/start";
import { Failed, Skeleton } from "./ui/parts";

const page = document.documentElement.dataset;

function App() {
  useEffect(() => void (document.documentElement.lang = language.value), [language.value]);
  if (page.portal !== "on" || place.value.query.has("with")) return <WithKey />;
  return <Portal />;
}

function Portal() {
  const [failure, setFailure] = useState<Failure>();
  const meeting = async () => {
    const refused = await returned();
    if (refused) return toSignIn(refused.code);
    if (!mayExist()) return toSignIn("");
    setFailure(await meet());
  };
  useEffect(() => void meeting(), []);
  useEffect(() => {
    if (ended.value) toSignIn(ended.value);
  }, [ended.value]);
  if (me.value) return <Signed />;
  if (failure && OUTSIDE.has(failure.code) && !ended.value) return <Outside failure={failure} again={meeting} />;
  return (
    <main class="page alone">
      {failure && !ended.value ? <Failed failure={failure} again={meeting} /> : <Skeleton />}
    </main>
  );
}

const OUTSIDE = new Set(["not_invited", "other_identity"]);

/** Takes the token that another provider has sent this page back with. */
async function returned(): Promise<Failure | undefined> {
  const given = await back();
  if (!given || failed(given)) return given;
  take(given.idToken, given.expiresIn);
  go(own(given.to) ? given.to : "/app/", true);
  return undefined;
}

/** Leads to the sign-in, and from there back to here, also with the text of a link, which stands in the fragment. */
function toSignIn(why: string) {
  const from = location.pathname + location.search;
  const q = new URLSearchParams();
  const back = own(from) && why !== "signed_out";
  if (back && from !== "/app/") q.set("to", from);
  if (why) q.set("why", why);
  location.replace("/signin" + (q.size ? "?" + q : "") + (back ? location.hash : ""));
}

const LAST = "swar.org"; // localStorage: where somebody was last

function Signed() {
  const orgs = me.value!.orgs;
  const known = orgs.some((o) => o.id === org.value);
  useEffect(() => {
    if (known) localStorage.setItem(LAST, org.value);
    if (orgs.length === 0 || org.value) return;
    const last = orgs.find((o) => o.id === localStorage.getItem(LAST)) ?? orgs[0]!;
    go(`/app/${last.id}/playground${location.search}${location.hash}`, true);
  }, [org.value, orgs.length]);
  if (orgs.length === 0) return <FirstRun />;
  return org.value ? <Shell /> : null;
}

type Asked =
  | { state: "asking" }
  | { state: "key"; wrong: boolean }
  | { state: "failed"; failure: Failure }
  | { state: "open"; key: string; voices: string[] };

/** The playground with a pasted key, which is kept in memory alone; an open server asks for none. */
function WithKey() {
  const needed = page.keys !== "off";
  const [asked, setAsked] = useState<Asked>(needed ? { state: "key", wrong: false } : { state: "asking" });
  const ask = async (key: string) => {
    const voices = await voicesOf(key);
    if (failed(voices)) return setAsked({ state: "failed", failure: voices });
    setAsked(voices ? { state: "open", key, voices } : { state: "key", wrong: key !== "" });
  };
  useEffect(() => void (needed || ask("")), []);
  switch (asked.state) {
    case "asking":
      return (
        <main class="page alone">
          <Skeleton />
        </main>
      );
    case "key":
      return <AskKey wrong={asked.wrong} tryKey={ask} />;
    case "failed":
      return (
        <main class="page alone">
          <Failed failure={asked.failure} again={() => ask("")} />
        </main>
      );
    case "open":
      return <Alone key_={asked.key} voices={asked.voices} />;
  }
}

const root = document.getElementById("app")!;
if (!isOld) {
  root.textContent = ""; // what older browsers are told
  route();
  listen();
  render(<App />, root);
}
