// How somebody gets in: as the owner at the first start, by a code from a mail, or with an API key.
import { useState } from "preact/hooks";
import type { T } from "./play/index";
import { sendCode, type Failure, type Session } from "./session";

interface FormProps {
  t: T;
  lead: string;
  label: string;
  button: string;
  type: "email" | "text" | "password";
  autocomplete: string;
  wrong: string; // what was wrong with the last try; "" for nothing
  submit(value: string): Promise<void>;
  children?: preact.ComponentChildren;
}

/** A card with one field. */
export function Form(p: FormProps) {
  const [value, setValue] = useState("");
  const [busy, setBusy] = useState(false);
  const submit = (e: Event) => {
    e.preventDefault();
    if (!value.trim() || busy) return;
    setBusy(true);
    void p.submit(value.trim()).finally(() => setBusy(false));
  };
  return (
    <form class="card ask" onSubmit={submit}>
      <p>{p.lead}</p>
      <label class="field">
        <span>{p.label}</span>
        <input class={p.type === "password" ? "in mono" : "in"} type={p.type as "text"} autocomplete={p.autocomplete} value={value} aria-invalid={p.wrong !== ""}
          onInput={(e) => setValue(e.currentTarget.value)} />
      </label>
      {p.wrong && <p class="wrong" role="alert">{p.wrong}</p>}
      <button type="submit" class="btn primary" disabled={busy}>{p.button}</button>
      {p.children}
    </form>
  );
}

/** What to say of a failure, in the language of the page where it has words for it. */
export function sentence(t: T, f: Failure | undefined): string {
  if (!f) return "";
  const key = "app.error." + f.code;
  const known = t(key);
  return known === key ? f.text || f.code : known;
}

export function SetUp({ t, session, token, done }: { t: T; session: Session; token: string; done(): void }) {
  const [failure, setFailure] = useState<Failure>();
  const submit = async (email: string) => {
    const refused = await session.setUp(token, email);
    setFailure(refused);
    if (!refused) done();
  };
  return <Form t={t} lead={t("app.setup.lead")} label={t("app.email")} button={t("app.setup.go")} type="email" autocomplete="email" wrong={sentence(t, failure)} submit={submit} />;
}

export function SignIn({ t, session, done }: { t: T; session: Session; done(): void }) {
  const [email, setEmail] = useState("");
  const [failure, setFailure] = useState<Failure>();
  if (!email) {
    const send = async (to: string) => {
      const answer = await sendCode(to);
      const refused = "code" in answer ? (answer as Failure) : undefined;
      setFailure(refused);
      if (!refused) setEmail(to);
    };
    return <Form key="email" t={t} lead={t("app.signin.lead")} label={t("app.email")} button={t("app.signin.send")} type="email" autocomplete="email" wrong={sentence(t, failure)} submit={send} />;
  }
  const verify = async (code: string) => {
    const refused = await session.verify(email, code);
    setFailure(refused);
    if (!refused) done();
  };
  return (
    <Form key="code" t={t} lead={t("app.signin.mail", { email })} label={t("app.signin.code")} button={t("app.signin.go")} type="text" autocomplete="one-time-code" wrong={sentence(t, failure)} submit={verify}>
      <button type="button" class="btn ghost sm" onClick={() => { setEmail(""); setFailure(undefined); }}>{t("app.signin.other")}</button>
    </Form>
  );
}

export function AskKey({ t, wrong, tryKey }: { t: T; wrong: boolean; tryKey(key: string): Promise<void> }) {
  return (
    <Form t={t} lead={t("app.key.why")} label={t("app.key")} button={t("app.key.use")} type="password" autocomplete="off" wrong={wrong ? t("app.key.wrong") : ""} submit={tryKey}>
      <p class="small muted">{t("app.key.make")} <code class="mono">swar keys create NAME</code></p>
    </Form>
  );
}
