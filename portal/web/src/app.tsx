// The page of the playground, and the ways to it: an open server needs no key, who has signed in gets one that ends by itself, and any other may
// be pasted, which is kept in memory alone.

import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { AskKey, SetUp, SignIn } from "./enter";
import { Playground, type T } from "./play/index";
import type { SocketKey } from "./play/socket";
import { failed, Session, ways } from "./session";
import { translate, wanted, type Language } from "./words";

const api = document.documentElement.dataset.api || location.origin; // of a fleet, that of its routers
const worklet = document.documentElement.dataset.worklet!;

type Asked =
  | { state: "asking" }
  | { state: "away" }
  | { state: "enter"; wrong: boolean; byMail: boolean }
  | { state: "open"; key: SocketKey; voices: string[]; mayPlay: boolean };

const session = new Session();

/** Finds out how this page may speak: the voices that a key may use tell whether it is good; "" is none, which an open server takes. */
async function ask(key: string): Promise<Asked> {
  try {
    const answer = await fetch(api + "/v1/voices", { headers: key ? { "x-api-key": key } : {} });
    if (answer.ok) {
      const { voices } = (await answer.json()) as { voices: { name: string }[] };
      return { state: "open", key: { get: () => Promise.resolve(key) }, voices: voices.map((v) => v.name), mayPlay: true };
    }
    if (answer.status !== 401) return { state: "away" };
  } catch {
    return { state: "away" };
  }
  return key ? enter(true) : seat();
}

/** Takes the seat of who has signed in, or shows the ways in. */
async function seat(): Promise<Asked> {
  if (!session.exists) return enter(false);
  const taken = await session.seat();
  if (failed(taken)) return taken.code === "unreached" ? { state: "away" } : enter(false);
  return { state: "open", ...taken };
}

async function enter(wrong: boolean): Promise<Asked> {
  const known = await ways();
  return { state: "enter", wrong, byMail: !failed(known) && known.email };
}

function App() {
  const [language, setLanguage] = useState<Language>(wanted);
  const [asked, setAsked] = useState<Asked>({ state: "asking" });
  const t = translate(language);
  const tryKey = (key: string) => ask(key).then(setAsked);
  const [setup, setSetup] = useState(location.pathname === "/setup" ? location.hash.slice(1) : "");
  useEffect(() => void (setup || tryKey("")), []);
  const entered = () => {
    setSetup("");
    history.replaceState(null, "", "/app/"); // the token is used, and stays in no history
    void seat().then(setAsked);
  };
  useEffect(() => {
    document.documentElement.lang = language;
    document.title = t("play.title") + " · Swar";
  }, [language]);
  const other: Language = language === "en" ? "hi" : "en";
  const choose = () => {
    localStorage.setItem("swar.language", other);
    setLanguage(other);
  };
  return (
    <>
      <header class="top">
        <Logo /><span class="name">Swar</span>
        <a class="end small" href="/openapi.json">{t("app.docs")}</a>
        <button type="button" class="btn sm" lang={other} onClick={choose}>{t("app.language")}</button>
      </header>
      <main>
        <div><h1>{t("play.title")}</h1><p class="lead">{t("play.lead")}</p></div>
        {setup ? <SetUp t={t} session={session} token={setup} done={entered} /> : <Body t={t} asked={asked} tryKey={tryKey} done={entered} />}
      </main>
    </>
  );
}

function Body({ t, asked, tryKey, done }: { t: T; asked: Asked; tryKey(key: string): Promise<void>; done(): void }) {
  switch (asked.state) {
    case "asking":
      return null;
    case "away":
      return (
        <section class="card ask" role="alert">
          <p>{t("app.away")}</p>
          <button type="button" class="btn" onClick={() => void tryKey("")}>{t("app.again")}</button>
        </section>
      );
    case "enter":
      return (
        <>
          {asked.byMail && <SignIn t={t} session={session} done={done} />}
          <AskKey t={t} wrong={asked.wrong} tryKey={tryKey} />
        </>
      );
    case "open":
      if (asked.voices.length === 0) return <section class="card ask" role="alert"><p>{t("app.noVoices")}</p></section>;
      return <Playground t={t} api={api} worklet={worklet} key_={asked.key} voices={asked.voices} mayPlay={asked.mayPlay} />;
  }
}

/** Bars that hang from a line, as letters do in Devanagari. */
function Logo() {
  const bars = [[4.6, 11], [9.5, 18], [14.4, 14], [19.3, 20.5], [24.2, 9]] as const;
  return (
    <svg viewBox="0 0 32 32" aria-hidden="true">
      {bars.map(([x, height], i) => <rect class={i === 2 ? "logo-mid" : "logo-bar"} x={x} y="6" width="3.2" height={height} rx="1.6" />)}
      <rect class="logo-line" x="2" y="5" width="28" height="3.4" rx="1.7" />
    </svg>
  );
}

render(<App />, document.getElementById("app")!);
