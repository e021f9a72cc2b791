// The pages of who is not signed in: as the owner at the first start, by a link or code from a mail, or with another provider. They are
// small, and know nothing of the portal behind them.

import { render, type ComponentChildren } from "preact";
import { effect } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { failed, type Failure } from "./lib/api";
import { chooseLanguage, language } from "./lib/language";
import type { Provider, Ways } from "./lib/portal.gen";
import { firebaseLink, goTo } from "./lib/providers";
import { isOld } from "./lib/old";
import { own } from "./lib/own";
import { sampleAddress, sampleVoices } from "./lib/samples";
import { sendLink, setUp, verify, ways } from "./lib/session";
import { sentence } from "./ui/errors";
import { Icon, Logo } from "./ui/icons";
import { useEvery, useLoad } from "./ui/load";
import { Failed, Seg } from "./ui/parts";
import { t } from "./signin.words";

const asked = new URLSearchParams(location.search);

/** Where to go after signing in: where somebody came from, if that is a place of this page. */
function target(): string {
  const to = asked.get("to") ?? "";
  return own(to) ? to + location.hash : "/app/";
}

function Frame({ children }: { children: ComponentChildren }) {
  return (
    <div class="si">
      <div class="l">
        <header class="row">
          <a class="brand" href="/">
            <Logo />
            Swar{" "}
            <span class="faint" lang="hi">
              स्वर
            </span>
          </a>
          <span class="end">
            <Seg
              label="Language"
              value={language.value}
              onChoose={chooseLanguage}
              choices={[
                { key: "en", label: "English" },
                { key: "hi", label: "हिन्दी" },
              ]}
            />
          </span>
        </header>
        <main class="mid" id="main">
          {children}
        </main>
        <footer class="xs row wrap">
          <a href="/docs/">{t("docs")}</a>
          <span class="end hide-s faint">{location.host}</span>
        </footer>
      </div>
      <Aside />
    </div>
  );
}

const READ = [
  ["qty", "₹1,499", "एक हज़ार चार सौ निन्यानबे रुपये"],
  ["code", "OTP 482913", "ओ टी पी चार आठ दो नौ एक तीन"],
  ["time", "5:30 pm", "शाम साढ़े पाँच बजे"],
  ["name", "HDFC", "एच डी एफ़ सी"],
] as const;

function Aside() {
  const [voices, setVoices] = useState<string[]>([]);
  const audio = useRef<HTMLAudioElement>(null);
  useEffect(() => void sampleVoices().then(setVoices), []);
  const hear = (v: string) => {
    if (!audio.current) return;
    audio.current.src = sampleAddress(v);
    void audio.current.play();
  };
  return (
    <aside class="rr" aria-label={t("what")}>
      <div class="in2">
        <p class="tag">{t("tag")}</p>
        <ul>
          {READ.map(([family, written, spoken]) => (
            <li>
              <span class="a">
                <mark class={"s " + family}>{written}</mark>
              </span>
              <Icon name="arrow" />
              <span class="b" lang="hi">
                {spoken}
              </span>
            </li>
          ))}
        </ul>
        <div class="row wrap who">
          {voices.length > 0 && (
            <>
              <audio ref={audio} />
              {voices.map((v) => (
                <button type="button" class="chip acc" aria-label={t("hear", { voice: v })} onClick={() => hear(v)}>
                  ▶ {v}
                </button>
              ))}
              <span class="end xs muted">{t("samples")}</span>
            </>
          )}
        </div>
        <p class="small muted">
          {t("paise")} · {t("own")}
        </p>
      </div>
    </aside>
  );
}

interface OneFieldProps {
  label: string;
  button: string;
  type?: string;
  auto: string;
  code?: boolean;
  failure: Failure | undefined;
  says?: string; // of the failure, in the place of its sentence
  submit(value: string): Promise<void>;
}

function OneField(p: OneFieldProps) {
  const [value, setValue] = useState("");
  const [busy, setBusy] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => input.current?.focus(), []);
  const running = useRef(false); // the last letter and Enter may come before the first is shown
  const send = (typed: string) => {
    if (!typed.trim() || running.current) return;
    running.current = true;
    setBusy(true);
    void p.submit(typed.trim()).finally(() => {
      running.current = false;
      setBusy(false);
    });
  };
  const submit = (e: Event) => {
    e.preventDefault();
    send(value);
  };
  const typedIn = (typed: string) => {
    setValue(typed);
    if (p.code && isWhole(typed) && codeOf(typed) !== codeOf(value)) send(typed);
  };
  return (
    <form onSubmit={submit} noValidate>
      <label class="field">
        <span>{p.label}</span>
        <input
          ref={input}
          class={p.code ? "in big mono codein" : "in big"}
          type={(p.type ?? "text") as "text"}
          autocomplete={p.auto as "off"}
          spellcheck={false}
          autocapitalize={p.code ? "characters" : "off"}
          value={value}
          aria-invalid={p.failure !== undefined}
          aria-describedby="wrong"
          onInput={(e) => typedIn(e.currentTarget.value)}
        />
      </label>
      {p.failure && (
        <p class="wrong" id="wrong" role="alert" data-code={p.failure.code}>
          {p.says ?? sentence(p.failure)}
        </p>
      )}
      <button type="submit" class="btn primary big" disabled={busy} aria-busy={busy}>
        {p.button}
      </button>
    </form>
  );
}

function SetUpPage() {
  const [failure, setFailure] = useState<Failure>();
  useTitle(t("setup"));
  const submit = async (email: string) => {
    const refused = await setUp(location.hash.slice(1), email);
    setFailure(refused);
    if (!refused) location.replace("/app/"); // the token is used, and stays in no history
  };
  const isVoid = failure?.code === "bad_link" || location.hash.length < 2;
  return (
    <Frame>
      <h1>{t("setup")}</h1>
      <p class="muted">{t(isVoid ? "setupVoid" : "setupLead")}</p>
      {isVoid ? (
        <p class="after" role="alert" data-code="bad_link">
          <a class="btn primary big" href="/signin">
            {t("toSignIn")}
          </a>
        </p>
      ) : (
        <OneField label={t("email")} button={t("start")} type="email" auto="email" failure={failure} submit={submit} />
      )}
    </Frame>
  );
}

function useTitle(title: string) {
  useLayoutEffect(() => void (document.title = title + " · Swar"), [title]);
}

function SignInPage() {
  const known = useLoad<Ways>(ways, []);
  const [email, setEmail] = useState("");
  useTitle(t("title"));
  if (email)
    return (
      <Frame>
        <CodeStep
          email={email}
          mail={known.value?.mail ?? "smtp"}
          done={() => location.replace(target())}
          other={() => setEmail("")}
        />
      </Frame>
    );
  const why = asked.get("why") ?? "";
  return (
    <Frame>
      <h1>{t("title")}</h1>
      {why && (
        <p class="note" role="status" data-why={why}>
          {why === "signed_out"
            ? t("signedOut")
            : sentence({ failed: true, code: why, text: t("expired"), requestID: "" })}
        </p>
      )}
      {known.failure && <Failed failure={known.failure} again={known.reload} />}
      {known.value && <WaysIn ways={known.value} sent={setEmail} />}
      {known.value && (
        <p class="small after">
          <a href="/app/?with=key">{t("key")}</a>
        </p>
      )}
    </Frame>
  );
}

function WaysIn({ ways: w, sent }: { ways: Ways; sent(email: string): void }) {
  const [failure, setFailure] = useState<Failure>();
  const send = async (email: string) => {
    const answer = await sendLink(email);
    setFailure(failed(answer) ? answer : undefined);
    if (!failed(answer)) sent(email);
  };
  const byMail = w.email && w.mail !== "none"; // else nobody would get the code that the form leads to
  const note = byMail ? (w.mail === "printed" ? "printed" : "") : w.links ? "handed" : "";
  return (
    <>
      {byMail && (
        <>
          <p class="muted">{t("lead")}</p>
          <OneField label={t("email")} button={t("send")} type="email" auto="email" failure={failure} submit={send} />
        </>
      )}
      {byMail && w.providers.length > 0 && (
        <div class="or">
          <span>{t("or")}</span>
        </div>
      )}
      {w.providers.map((p) => (
        <ProviderWay key={p.name} p={p} />
      ))}
      {!byMail && !w.links && w.providers.length === 0 && <p class="note">{t("noWay")}</p>}
      {note && (
        <div class="note" data-ways={note}>
          <Icon name="warn" />
          <p class="small">
            <b>{t("noMail")}</b> {t(note)} {note === "handed" && <code>swar signin-link ADDRESS</code>}
          </p>
        </div>
      )}
    </>
  );
}

function ProviderWay({ p }: { p: Provider }) {
  const [failure, setFailure] = useState<Failure>();
  const [mailed, setMailed] = useState("");
  if (p.kind === "firebase") {
    if (mailed)
      return (
        <p class="note" role="status">
          {t("firebase", { email: mailed })}
        </p>
      );
    const send = async (email: string) => {
      const refused = await firebaseLink(p, email, target());
      setFailure(refused);
      if (!refused) setMailed(email);
    };
    return (
      <OneField
        label={t("email")}
        button={t("with", { name: p.name })}
        type="email"
        auto="email"
        failure={failure}
        submit={send}
      />
    );
  }
  return (
    <>
      <button type="button" class="btn big wide" onClick={() => void goTo(p, target()).then(setFailure)}>
        <Icon name="lock" />
        {t("with", { name: p.name })}
      </button>
      {failure && (
        <p class="wrong" role="alert" data-code={failure.code}>
          {failure.code === "provider_away" ? t("providerAway", { name: p.name }) : sentence(failure)}
        </p>
      )}
    </>
  );
}

const RESEND = 60; // s

/** A code as people paste it: in any case, with spaces or dashes, with the sentence of the mail around it. */
const codeOf = (typed: string) => typed.replace(/[\s\-–—.:]/g, "");
const isWhole = (typed: string) => /^[23456789abcdefghjklmnpqrstuvwxyz]{8}$/i.test(codeOf(typed)); // the letters of codes, which resemble no others

const TRIES = 5; // wrong codes, after which the server takes none of that mail

interface CodeStepProps {
  email: string;
  mail: Ways["mail"];
  done(): void;
  other(): void;
}

function CodeStep({ email, mail, done, other }: CodeStepProps) {
  const [failure, setFailure] = useState<Failure>();
  const [tries, setTries] = useState(TRIES);
  const [left, setLeft] = useState(RESEND);
  useTitle(t("check"));
  useEvery(1000, () => setLeft((s) => s - 1), left > 0);
  const submit = async (typed: string) => {
    const refused = await verify(email, codeOf(typed));
    setFailure(refused);
    if (refused?.code === "bad_link" && isWhole(typed)) setTries((n) => n - 1);
    if (!refused) done();
  };
  const resend = async () => {
    setLeft(RESEND);
    setFailure(undefined); // now, and not when the answer is there: the button below would move under the pointer
    const answer = await sendLink(email);
    setFailure(failed(answer) ? answer : undefined);
    if (!failed(answer)) setTries(TRIES);
  };
  const says = tries > 1 ? t("triesLeft", { n: tries }) : t(tries === 1 ? "tryLeft" : "noTryLeft");
  const printed = mail === "printed";
  return (
    <>
      <h1>{t(printed ? "code" : "check")}</h1>
      <p class="muted">{t(printed ? "sentPrinted" : "sent", { email })}</p>
      <OneField
        label={t("code")}
        button={t("signIn")}
        auto="one-time-code"
        code
        failure={failure}
        {...(failure?.code === "bad_link" && { says: says })}
        submit={submit}
      />
      <p class="small muted row wrap after">
        <span>{t(printed ? "nothingPrinted" : "nothing")}</span>
        <button type="button" class="btn ghost sm" disabled={left > 0} onClick={() => void resend()}>
          {left > 0 ? t("againIn", { s: `0:${String(left).padStart(2, "0")}` }) : t("again")}
        </button>
      </p>
      <p class="small">
        <button type="button" class="btn ghost sm" onClick={other}>
          {t("other")}
        </button>
      </p>
    </>
  );
}

const root = document.getElementById("app")!;
if (!isOld) {
  root.textContent = ""; // what older browsers are told
  effect(() => void (document.documentElement.lang = language.value));
  render(location.pathname === "/setup" ? <SetUpPage /> : <SignInPage />, root);
}
