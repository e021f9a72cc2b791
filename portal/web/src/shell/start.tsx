// What people see who have no organisation yet, or only a key.

import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { Failure } from "../lib/api";
import { chooseLanguage, language } from "../lib/language";
import { me, signOut } from "../lib/session";
import { Playing } from "../playing";
import { Form } from "../ui/dialog";
import { sentence } from "../ui/errors";
import { Logo } from "../ui/icons";
import { Field, Head } from "../ui/parts";
import { Toast } from "../ui/toast";
import { t as shared } from "../ui/words";
import { t } from "./words";
import { OrgForm } from "./org";
import { Away } from "./shell";

/** For who has signed in and is in no organisation. */
export function FirstRun() {
  return (
    <Bare>
      <main id="main" class="page alone">
        <div class="card pad narrow">
          <h1>{t("first")}</h1>
          <p class="muted small">{t("firstLead")}</p>
          <OrgForm />
        </div>
      </main>
    </Bare>
  );
}

/** For who has proved an address that may not come in. */
export function Outside({ failure, again }: { failure: Failure; again(): unknown }) {
  return (
    <Bare>
      <main id="main" class="page alone">
        <div class="card pad narrow" data-code={failure.code}>
          <Head title={t("outside")} lead={sentence(failure)} />
          <div class="row wrap">
            <button type="button" class="btn primary" onClick={() => void signOut()}>
              {t("otherAddress")}
            </button>
            <button type="button" class="btn" onClick={() => void again()}>
              {shared("again")}
            </button>
          </div>
          {failure.requestID && (
            <p class="xs muted">
              <code>{failure.requestID}</code>
            </p>
          )}
        </div>
      </main>
    </Bare>
  );
}

function Bare({ children }: { children: ComponentChildren }) {
  const other = language.value === "en" ? "hi" : "en";
  return (
    <>
      <header class="top">
        <a class="brand" href="/">
          <Logo />
          Swar{" "}
          <span class="faint" lang="hi">
            स्वर
          </span>
        </a>
        <span class="end row">
          <a class="small" href="/docs/">
            {t("docs")}
          </a>
          {me.value && (
            <button type="button" class="btn ghost sm" onClick={() => void signOut()}>
              {t("signOut")}
            </button>
          )}
          <button type="button" class="btn sm" lang={other} onClick={() => chooseLanguage(other)}>
            {other === "hi" ? "हिन्दी" : "English"}
          </button>
        </span>
      </header>
      <Away />
      {children}
      <Toast />
    </>
  );
}

/** The playground without a portal around it. */
export function Alone({ key_, voices }: { key_: string; voices: readonly string[] }) {
  const key = useMemo(() => ({ get: () => Promise.resolve(key_) }), [key_]);
  return (
    <Bare>
      <main id="main" class="page">
        <Playing key_={key} voices={voices} mayPlay />
      </main>
    </Bare>
  );
}

export function AskKey({ wrong, tryKey }: { wrong: boolean; tryKey(key: string): Promise<void> }) {
  const [value, setValue] = useState("");
  return (
    <Bare>
      <main id="main" class="page alone">
        <div class="card pad narrow">
          <Head title={t("key")} lead={t("keyWhy")} />
          <Form onSend={() => value.trim() && tryKey(value.trim())}>
            <Field label={t("keyLabel")} type="password" value={value} onInput={setValue} focus />
            {wrong && (
              <p class="wrong" role="alert" data-code="invalid_key">
                {t("keyWrong")}
              </p>
            )}
            <div class="row wrap">
              <button type="submit" class="btn primary" disabled={!value.trim()}>
                {t("useKey")}
              </button>
            </div>
          </Form>
          <p class="small muted">
            {t("keyMake")} <code>swar keys create NAME</code>
          </p>
        </div>
      </main>
    </Bare>
  );
}
