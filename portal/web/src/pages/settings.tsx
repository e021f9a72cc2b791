// The organisation's names, and the look of the page.

import { useState } from "preact/hooks";
import { failed } from "../lib/api";
import { here, isOwner, mayWrite } from "../lib/here";
import { chooseLanguage, language } from "../lib/language";
import type { Organisation, Project } from "../lib/portal.gen";
import { org } from "../lib/router";
import { create, idToken, leftMs, meet, patch } from "../lib/session";
import { chooseTheme, singleKeys, theme } from "../lib/choices";
import { copy, say } from "../ui/copy";
import { sentence } from "../ui/errors";
import { Form } from "../ui/dialog";
import { useAction, useEvery } from "../ui/load";
import { Allowed, Field, Go, Head, Seg, Wrong } from "../ui/parts";
import { t as shared } from "../ui/words";
import { t } from "./words";

const saved = () => {
  say(t("settings.saved"));
  void meet();
};

export function SettingsPage() {
  const o = here.value;
  if (!o) return null;
  return (
    <>
      <Head title={t("settings")} of={o.name} />
      <div class="two">
        <Names key={o.id} o={o} />
        <Projects o={o} />
        <Look />
        <Token />
      </div>
    </>
  );
}

function Names({ o }: { o: Organisation }) {
  const [name, setName] = useState(o.name);
  const [disclosure, setDisclosure] = useState(o.disclosure ?? "");
  const changed = {
    ...(name.trim() !== o.name ? { name: name.trim() } : {}),
    ...(disclosure !== (o.disclosure ?? "") ? { disclosure } : {}),
  };
  const action = useAction<Organisation>(() => patch(`/orgs/${org.value}`, changed), saved);
  const inherit = useAction<Organisation>(
    () => patch(`/orgs/${org.value}`, { inherit_disclosure: true }),
    () => {
      setDisclosure("");
      saved();
    },
  );
  return (
    <section class="card">
      <header>
        <h2>{t("settings.org")}</h2>
      </header>
      <div class="pad">
        <Form onSend={action.go}>
          <fieldset class="bare" disabled={!isOwner.value}>
            <Field label={t("settings.orgName")} value={name} onInput={setName} max={80} />
            <label class="field">
              <span>{t("settings.disclosure")}</span>
              <textarea
                class="in"
                rows={2}
                maxLength={400}
                value={disclosure}
                onInput={(e) => setDisclosure(e.currentTarget.value)}
              />
              <span class="xs muted">{t("settings.disclosureHint")}</span>
            </label>
          </fieldset>
          <Wrong of={action} />
          <Wrong of={inherit} />
          <Allowed may={isOwner.value} why={shared("ownersOnly")}>
            {(off) => (
              <span class="row wrap">
                <Go
                  of={action}
                  label={shared("save")}
                  disabled={off || Object.keys(changed).length === 0 || !name.trim()}
                />
                {o.disclosure !== undefined && (
                  <button type="button" class="btn ghost" disabled={off} onClick={() => void inherit.go()}>
                    {t("settings.inherit")}
                  </button>
                )}
              </span>
            )}
          </Allowed>
        </Form>
      </div>
    </section>
  );
}

function Projects({ o }: { o: Organisation }) {
  const [name, setName] = useState("");
  const action = useAction<Project>(
    (key) => create("/projects", { org_id: o.id, name: name.trim() }, key),
    () => {
      setName("");
      saved();
    },
  );
  return (
    <section class="card">
      <header>
        <h2>{t("settings.projects")}</h2>
      </header>
      <ul class="list">
        {o.projects.map((p) => (
          <Rename key={p.id} p={p} />
        ))}
      </ul>
      <div class="pad">
        <Form onSend={() => name.trim() && action.go()}>
          <Field label={t("settings.newProject")} value={name} onInput={setName} max={80} />
          <Wrong of={action} />
          <Allowed may={mayWrite.value} why={shared("viewersRead")}>
            {(off) => (
              <span>
                <Go of={action} label={t("settings.newProject")} disabled={off || !name.trim()} />
              </span>
            )}
          </Allowed>
        </Form>
      </div>
    </section>
  );
}

function Rename({ p }: { p: Project }) {
  const [name, setName] = useState(p.name);
  const put = async () => {
    if (!name.trim() || name.trim() === p.name) return setName(p.name);
    const a = await patch<Project>(`/projects/${p.id}`, { name: name.trim() });
    if (!failed(a)) return saved();
    setName(p.name);
    say(sentence(a));
  };
  return (
    <li>
      <input
        class="in quiet"
        aria-label={t("settings.rename", { name: p.name })}
        value={name}
        maxLength={80}
        readOnly={!isOwner.value}
        onInput={(e) => setName(e.currentTarget.value)}
        onChange={() => void put()}
      />
      <code class="xs faint hide-s">{p.id}</code>
    </li>
  );
}

function Look() {
  return (
    <section class="card">
      <header>
        <h2>{t("settings.look")}</h2>
      </header>
      <div class="pad stack">
        <div class="row wrap">
          <span class="grow">{t("settings.language")}</span>
          <Seg
            label={t("settings.language")}
            value={language.value}
            onChoose={chooseLanguage}
            choices={[
              { key: "en", label: "English" },
              { key: "hi", label: "हिन्दी" },
            ]}
          />
        </div>
        <div class="row wrap">
          <span class="grow">{t("settings.theme")}</span>
          <Seg
            label={t("settings.theme")}
            value={theme.value}
            onChoose={chooseTheme}
            choices={[
              { key: "", label: t("settings.system") },
              { key: "light", label: t("settings.light") },
              { key: "dark", label: t("settings.dark") },
            ]}
          />
        </div>
        <label class="row">
          <span class="grow">{t("settings.keys")}</span>
          <input
            type="checkbox"
            role="switch"
            checked={singleKeys.value}
            onChange={(e) => (singleKeys.value = e.currentTarget.checked)}
          />
        </label>
      </div>
    </section>
  );
}

function Token() {
  const [left, setLeft] = useState(leftMs);
  useEvery(10_000, () => setLeft(leftMs()));
  return (
    <section class="card">
      <header>
        <h2>{t("settings.token")}</h2>
      </header>
      <div class="pad stack">
        <p class="small muted">{t("settings.tokenText", { min: Math.floor(left / 60_000) })}</p>
        <span>
          <button type="button" class="btn" onClick={() => void copy(idToken())}>
            {t("settings.copyToken")}
          </button>
        </span>
      </div>
    </section>
  );
}
