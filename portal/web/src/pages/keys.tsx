// API keys: made, shown once, restricted, revoked.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { failed, query, type Answer } from "../lib/api";
import { ago, day, exact, shortDay } from "../lib/format";
import { api, here, mayWrite, projectName, voiceNames } from "../lib/here";
import type { CreatedKey, Key, Keys, Requests } from "../lib/portal.gen";
import { ask, org, place, to } from "../lib/router";
import { create, patch, portal, remove } from "../lib/session";
import { snippet } from "../play/snippets";
import { copy, say } from "../ui/copy";
import { Dialog, FormDialog } from "../ui/dialog";
import { Icon } from "../ui/icons";
import { settled, useAction, useEvery, useLoad } from "../ui/load";
import { Menu } from "../ui/menu";
import { Allowed, Empty, Field, Find, Head, Seg, Show } from "../ui/parts";
import { Projects } from "../ui/projects";
import { t as shared } from "../ui/words";
import { t } from "./words";

const LIMIT = 50; // active keys of an organisation

type Open = { create: true } | { secret: CreatedKey } | { edit: Key } | { revoke: Key } | undefined;

export function KeysPage() {
  const list = useLoad<Keys>(() => portal("/keys" + query({ org_id: org.value })), [org.value]);
  const [open, setOpen] = useState<Open>();
  useEvery(30_000, () => void list.reload());
  const full = (list.value?.keys.filter((k) => !k.revoked_at).length ?? 0) >= LIMIT;
  const may = mayWrite.value && !full;
  const wantsNew = place.value.query.has("new");
  useEffect(() => {
    if (wantsNew && may) setOpen({ create: true });
    if (wantsNew) ask({ new: "" });
  }, [wantsNew]);
  const close = () => {
    setOpen(undefined);
    void list.reload();
  };
  return (
    <>
      <Head title={t("keys")} lead={t("keys.lead")} of={here.value?.name}>
        <Allowed may={may} why={mayWrite.value ? t("keys.full") : shared("viewersRead")}>
          {(off) => (
            <button
              type="button"
              class="btn primary"
              data-create
              disabled={off}
              onClick={() => setOpen({ create: true })}
            >
              <Icon name="plus" />
              {t("keys.create")}{" "}
              <kbd class="hide-s" aria-hidden="true">
                C
              </kbd>
            </button>
          )}
        </Allowed>
      </Head>
      <Show of={list}>{({ keys }) => <List keys={keys} open={setOpen} />}</Show>
      {settled(list) && <LookUp keys={list.value?.keys ?? []} />}
      {open && "create" in open && <Create onClose={close} onMade={(made) => setOpen({ secret: made })} />}
      {open && "secret" in open && <Secret made={open.secret} onClose={close} />}
      {open && "edit" in open && <Edit row={open.edit} onClose={close} />}
      {open && "revoke" in open && <Revoke row={open.revoke} onClose={close} />}
    </>
  );
}

function List({ keys, open }: { keys: Key[]; open(o: Open): void }) {
  const q = place.value.query;
  const find = q.get("q") ?? "";
  const status = (q.get("status") ?? "all") as "all" | "active" | "revoked";
  const project = q.get("project") ?? "";
  const active = keys.filter((k) => !k.revoked_at);
  const rows = keys.filter(
    (k) =>
      (status === "all" || (status === "revoked") === Boolean(k.revoked_at)) &&
      (!project || k.project_id === project) &&
      matches(k, find),
  );
  if (keys.length === 0)
    return (
      <section class="card">
        <Empty title={t("keys.empty")} text={t("keys.emptyText")}>
          {mayWrite.value && (
            <button type="button" class="btn primary" onClick={() => open({ create: true })}>
              {t("keys.create")}
            </button>
          )}
        </Empty>
      </section>
    );
  return (
    <>
      <div class="row wrap tools">
        <Find label={t("keys.find")} value={find} onInput={(v) => ask({ q: v })} />
        <Seg
          label={t("keys.status")}
          value={status}
          onChoose={(k) => ask({ status: k === "all" ? "" : k })}
          choices={[
            { key: "all", label: shared("all"), count: keys.length },
            { key: "active", label: t("keys.active"), count: active.length },
            { key: "revoked", label: t("keys.revoked"), count: keys.length - active.length },
          ]}
        />
        <Projects every value={project} />
        <span class="end lim">
          <span class="xs muted num">{t("keys.of", { n: active.length })}</span>
          <span
            class="bar"
            role="meter"
            aria-label={t("keys.of", { n: active.length })}
            aria-valuemin={0}
            aria-valuemax={LIMIT}
            aria-valuenow={active.length}
          >
            <i style={{ width: (active.length * 100) / LIMIT + "%" }} />
          </span>
        </span>
      </div>
      {rows.length === 0 ? (
        <section class="card">
          <Empty title={t("keys.none")} />
        </section>
      ) : (
        <Table rows={rows} open={open} />
      )}
      <p class="xs faint note-below">{t("keys.note")}</p>
    </>
  );
}

const matches = (k: Key, find: string) =>
  [k.name, k.prefix].some((s) => s.toLowerCase().includes(find.trim().toLowerCase()));

function Table({ rows, open }: { rows: Key[]; open(o: Open): void }) {
  return (
    <div class="card kt">
      <table>
        <caption class="sr">{t("keys")}</caption>
        <thead>
          <tr>
            <th>{shared("name")}</th>
            <th>{t("keys.key")}</th>
            <th>{t("keys.voices")}</th>
            <th>{t("keys.used")}</th>
            <th>{t("keys.created")}</th>
            <th>{t("keys.by")}</th>
            <th>
              <span class="sr">{shared("more")}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((k) => (
            <tr key={k.id} class={k.revoked_at ? "rev" : ""} data-key={k.id}>
              <td>
                <b>
                  <bdi>{k.name}</bdi>
                </b>
                <span class="pj xs muted">
                  <bdi>{projectName(k.project_id)}</bdi>
                </span>
              </td>
              <td class="kx">
                <code>{k.prefix}…</code>
              </td>
              <td class="vx">
                {k.voices.length === 0 ? (
                  <span class="chip every">{shared("every")}</span>
                ) : (
                  k.voices.map((v) => <span class="chip acc">{v}</span>)
                )}
              </td>
              <td class="lx">
                <Used k={k} />
              </td>
              <td class="muted cx" title={exact(k.created_at)}>
                {day(k.created_at)}
              </td>
              <td class="muted bx" title={k.created_by}>
                {k.created_by}
              </td>
              <td class="ax">
                {!k.revoked_at && mayWrite.value && (
                  <Menu label={shared("actions", { name: k.name })} button={<Icon name="more" />}>
                    {(close) => (
                      <>
                        <button
                          type="button"
                          onClick={() => {
                            close();
                            open({ edit: k });
                          }}
                        >
                          {t("keys.edit")}
                        </button>
                        <button
                          type="button"
                          class="danger"
                          onClick={() => {
                            close();
                            open({ revoke: k });
                          }}
                        >
                          {t("keys.revoke")}
                        </button>
                      </>
                    )}
                  </Menu>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Used({ k }: { k: Key }) {
  if (k.revoked_at)
    return (
      <span class="chip bad" title={exact(k.revoked_at)}>
        {t("keys.revokedOn", { day: shortDay(k.revoked_at) })}
      </span>
    );
  if (!k.last_used_at)
    return (
      <span class="row">
        <span class="dot off" />
        <span class="faint">{shared("never")}</span>
      </span>
    );
  const recent = Date.now() - Date.parse(k.last_used_at) < 86_400_000;
  return (
    <span class="row" title={exact(k.last_used_at)}>
      <span class={recent ? "dot on" : "dot off"} />
      {ago(k.last_used_at)}
    </span>
  );
}

// The key that was found stays in this page: prefixes are compared here.
function LookUp({ keys }: { keys: Key[] }) {
  const [found, setFound] = useState("");
  const prefix = /swar_live_[0-9A-Za-z]{6}/.exec(found)?.[0];
  const key = keys.find((k) => k.prefix === prefix);
  const says =
    found.trim() === ""
      ? ""
      : !prefix
        ? t("keys.noKey")
        : !key
          ? t("keys.notYours")
          : t(key.revoked_at ? "keys.wasYours" : "keys.isYours", { name: key.name });
  return (
    <section class="card leak">
      <span class="li">
        <Icon name="shield" />
      </span>
      <div class="grow">
        <h2>{t("keys.found")}</h2>
        <p class="small muted">{t("keys.foundLead")}</p>
        <p class="small" role="status">
          {says}
        </p>
      </div>
      <label class="lk">
        <span class="sr">{t("keys.lookUp")}</span>
        <input
          class="in mono"
          placeholder="swar_live_…"
          value={found}
          autocomplete="off"
          spellcheck={false}
          onInput={(e) => setFound(e.currentTarget.value)}
        />
      </label>
    </section>
  );
}

function VoiceChoice({ chosen, onChange }: { chosen: readonly string[]; onChange(v: string[]): void }) {
  const all = [...new Set([...voiceNames.value, ...chosen])];
  const toggle = (v: string) => onChange(chosen.includes(v) ? chosen.filter((c) => c !== v) : [...chosen, v]);
  return (
    <fieldset class="checks">
      <legend>{t("keys.which")}</legend>
      <label>
        <input type="checkbox" checked={chosen.length === 0} onChange={() => onChange([])} /> {shared("every")}
      </label>
      {all.map((v) => (
        <label>
          <input type="checkbox" checked={chosen.includes(v)} onChange={() => toggle(v)} /> {v}
        </label>
      ))}
    </fieldset>
  );
}

function Create({ onClose, onMade }: { onClose(): void; onMade(made: CreatedKey): void }) {
  const projects = here.value?.projects ?? [];
  const [name, setName] = useState("");
  const [project, setProject] = useState(projects[0]?.id ?? "");
  const [voices, setVoices] = useState<string[]>([]);
  const action = useAction<CreatedKey>(
    (key) => create("/keys", { project_id: project, name: name.trim(), voices }, key),
    onMade,
  );
  return (
    <FormDialog
      title={t("keys.create")}
      action={action}
      label={t("keys.create")}
      ready={name.trim() !== ""}
      onClose={onClose}
    >
      <Field label={shared("name")} value={name} onInput={setName} max={80} focus />
      {projects.length > 1 && (
        <label class="field">
          <span>{shared("project")}</span>
          <select class="in" value={project} onChange={(e) => setProject(e.currentTarget.value)}>
            {projects.map((p) => (
              <option value={p.id}>{p.name}</option>
            ))}
          </select>
        </label>
      )}
      <VoiceChoice chosen={voices} onChange={setVoices} />
    </FormDialog>
  );
}

const LANGUAGES = ["curl", "Go", "Python", "JavaScript", ".env"] as const;
type Language = (typeof LANGUAGES)[number];

// How the code of a language is run once it is in a file.
const RUN: Partial<Record<Language, readonly [file: string, run: string]>> = {
  Go: ["main.go", "go run ."],
  Python: ["take.py", "python3 take.py"],
  JavaScript: ["take.mjs", "node take.mjs"],
};

/** Asks before what cannot be shown again is closed, and before the browser leaves it. */
function useLeaving(safe: boolean) {
  const [asking, setAsking] = useState(false);
  useEffect(() => {
    if (safe) return;
    const leave = (e: BeforeUnloadEvent) => e.preventDefault();
    addEventListener("beforeunload", leave);
    return () => removeEventListener("beforeunload", leave);
  }, [safe]);
  const mayClose = () => {
    if (!safe) setAsking(!asking); // Escape twice stays
    return safe;
  };
  return { asking: asking && !safe, stay: () => setAsking(false), mayClose };
}

function Leaving({ stay, close }: { stay(): void; close(): void }) {
  const first = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => {
    const back = document.activeElement;
    first.current?.focus();
    return () => {
      // At once: with the focus nowhere, the next Escape would not reach the dialog, and the browser would close it.
      if (first.current?.parentElement?.contains(document.activeElement) && back instanceof HTMLElement) back.focus();
    };
  }, []);
  return (
    <div class="leaving" role="alertdialog" aria-labelledby="leaving">
      <p id="leaving">{t("keys.leave")}</p>
      <span class="row wrap">
        <button type="button" class="btn sm" ref={first} onClick={stay}>
          {t("keys.stay")}
        </button>
        <button type="button" class="btn bad sm" onClick={close}>
          {t("keys.closeAnyway")}
        </button>
      </span>
    </div>
  );
}

/** Lines to run or save as they stand. */
function Lines({ label, text, copied }: { label?: string | undefined; text: string; copied?(): void }) {
  return (
    <div class="lines">
      <p class="row xs muted">
        <span class="grow">{label}</span>
        <button type="button" class="btn ghost sm" onClick={() => void copy(text).then((ok) => ok && copied?.())}>
          <Icon name="copy" />
          {shared("copy")}
        </button>
      </p>
      <pre tabIndex={0}>{text}</pre>
    </div>
  );
}

/** The first call with the key: a line for a shell, and for a language a file beside it, which does not hold the key. */
function Example({
  language,
  secret,
  voice,
  copied,
}: {
  language: Language;
  secret: string;
  voice: string;
  copied(): void;
}) {
  if (language === ".env") return <Lines text={`SWAR_URL=${api}\nSWAR_KEY=${secret}`} copied={copied} />;
  const given = `export SWAR_KEY=${secret}`;
  const code = snippet(language, api, "Namaste! Aapka order kal aayega.", { ...PLAIN, voice });
  const how = RUN[language];
  if (!how) return <Lines text={`${given}\n${code}`} copied={copied} />;
  return (
    <>
      <Lines label={t("keys.inShell")} text={given} copied={copied} />
      <Lines label={t("keys.inFile", { file: how[0], run: how[1] })} text={code} />
    </>
  );
}

const PLAIN = { temperature: 0.3, seed: "", enDigits: false, raw: false };

function Secret({ made, onClose }: { made: CreatedKey; onClose(): void }) {
  const [copied, setCopied] = useState(false);
  const [stored, setStored] = useState(false);
  const [language, setLanguage] = useState<Language>("curl");
  const first = useFirstRequest(made.row.id);
  const { asking, stay, mayClose } = useLeaving(!made.key || copied || stored || first !== "");
  if (!made.key)
    return (
      <Dialog title={t("keys.ready", { name: made.row.name })} onClose={onClose}>
        <p class="wrong">{t("keys.notShown")}</p>
      </Dialog>
    );
  const key = made.key;
  const keep = () => setCopied(true);
  return (
    <Dialog
      title={t("keys.ready", { name: made.row.name })}
      lead={t("keys.once")}
      onClose={onClose}
      mayClose={mayClose}
    >
      <div class="secret">
        <code data-secret>{key}</code>
        <button
          type="button"
          class="btn primary sm"
          data-focus
          onClick={() => void copy(key).then((ok) => ok && keep())}
        >
          <Icon name="copy" />
          {shared("copy")}
        </button>
      </div>
      <div class="try card">
        <div class="tabs" role="tablist" aria-label={t("keys.runLine")}>
          {LANGUAGES.map((l) => (
            <button type="button" role="tab" aria-selected={l === language} onClick={() => setLanguage(l)}>
              {l}
            </button>
          ))}
        </div>
        <Example
          language={language}
          secret={key}
          voice={made.row.voices[0] ?? voiceNames.value[0] ?? ""}
          copied={keep}
        />
        <div class="wait small" role="status">
          <span class={first ? "dot on" : "pulse"} />
          <span class="grow">{first ? t("keys.lit") : t("keys.waiting")}</span>
          {first ? (
            <a href={to("requests") + query({ id: first })}>{t("keys.see")}</a>
          ) : (
            <span class="xs">{t("keys.runLine")}</span>
          )}
        </div>
      </div>
      <div class="row foot-row">
        <label class="row small muted">
          <input type="checkbox" checked={stored} onChange={(e) => setStored(e.currentTarget.checked)} />{" "}
          {t("keys.stored")}
        </label>
        <button type="button" class="btn end" onClick={() => mayClose() && onClose()}>
          {shared("close")}
        </button>
      </div>
      {asking && <Leaving stay={stay} close={onClose} />}
    </Dialog>
  );
}

/** The id of the first request with a key, asked for each second while the page is seen. */
function useFirstRequest(key: string): string {
  const [first, setFirst] = useState("");
  useEvery(
    1000,
    () =>
      void portal<Requests>("/requests" + query({ org_id: org.value, key_id: key, limit: 1 })).then(
        (a) => !failed(a) && a.requests[0] && setFirst(a.requests[0].request_id),
      ),
    first === "",
  );
  return first;
}

function Edit({ row, onClose }: { row: Key; onClose(): void }) {
  const [name, setName] = useState(row.name);
  const [voices, setVoices] = useState(row.voices);
  const action = useAction<Key>(() => patch(`/keys/${row.id}`, { name: name.trim(), voices }), onClose);
  return (
    <FormDialog
      title={t("keys.edit")}
      lead={row.prefix + "…"}
      action={action}
      label={shared("save")}
      ready={name.trim() !== ""}
      onClose={onClose}
    >
      <Field label={shared("name")} value={name} onInput={setName} max={80} focus />
      <VoiceChoice chosen={voices} onChange={setVoices} />
    </FormDialog>
  );
}

function Revoke({ row, onClose }: { row: Key; onClose(): void }) {
  const [typed, setTyped] = useState("");
  const action = useAction<Key>(
    (): Promise<Answer<Key>> => remove(`/keys/${row.id}`),
    () => {
      say(t("keys.isRevoked", { name: row.name }));
      onClose();
    },
  );
  const right = typed.trim() === row.name.trim();
  return (
    <FormDialog
      title={t("keys.revoke")}
      lead={t("keys.revokeLead")}
      action={action}
      label={t("keys.revoke")}
      ready={right}
      danger
      onClose={onClose}
    >
      <Field label={t("keys.type", { name: row.name })} value={typed} onInput={setTyped} focus />
    </FormDialog>
  );
}
