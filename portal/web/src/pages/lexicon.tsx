// The lexicon of a project: how words are spoken, as lines that anybody can paste from a spreadsheet.

import { useState } from "preact/hooks";
import { failed, once, unreached, type Answer } from "../lib/api";
import { exact, number } from "../lib/format";
import { api, here, mayWrite } from "../lib/here";
import type { Lexicon, LexiconEntry } from "../lib/portal.gen";
import { place } from "../lib/router";
import { create, mint, portal, replace } from "../lib/session";
import { PlaygroundKey, fetchWith } from "../play/key";
import { refusal } from "../play/preview";
import { say } from "../ui/copy";
import { Form } from "../ui/dialog";
import { settled, useAction, useLoad } from "../ui/load";
import { Allowed, Field, Go, Head, Select, Show, Wrong } from "../ui/parts";
import { t as shared } from "../ui/words";
import { t } from "./words";

interface Parsed {
  entries: LexiconEntry[];
  dropped: { line: number; word: string; reason: string }[];
}

const cell = (v: string) => (/[",\n]/.test(v) || v.trim() !== v ? `"${v.replaceAll('"', '""')}"` : v);

const lines = (entries: LexiconEntry[]) =>
  entries.map((e) => [e.word, e.spoken, ...(e.lang ? [e.lang] : [])].map(cell).join(", ") + "\n").join("");

/** All entries, of which those that were added take the place of the same words. */
function merged(present: LexiconEntry[], added: LexiconEntry[]) {
  const key = (e: LexiconEntry) => e.word.toLowerCase();
  const all = new Map(present.map((e) => [key(e), e]));
  for (const e of added) all.set(key(e), e);
  return [...all.values()];
}

export function LexiconPage() {
  const o = here.value;
  const [chosen, setChosen] = useState(place.value.query.get("project") ?? "");
  if (!o?.projects[0]) return null;
  const project = o.projects.find((p) => p.id === chosen) ?? o.projects[0];
  return (
    <>
      <Head title={t("lexicon")} lead={t("lexicon.lead")} of={o.name}>
        {o.projects.length > 1 && (
          <Select
            label={t("lexicon.project")}
            value={project.id}
            choices={o.projects.map((p) => [p.id, p.name] as const)}
            onChoose={setChosen}
          />
        )}
      </Head>
      <Of key={project.id} project={project.id} />
    </>
  );
}

function Of({ project }: { project: string }) {
  const list = useLoad<Lexicon>(() => portal(`/projects/${project}/lexicon`), [project]);
  return (
    <div class="stack">
      <Show of={list}>{(l) => <Edit key={l.version} l={l} saved={list.set} reload={list.reload} />}</Show>
      {settled(list) && <Try project={project} />}
    </div>
  );
}

function Edit({ l, saved, reload }: { l: Lexicon; saved(l: Lexicon): void; reload(): Promise<void> }) {
  const before = lines(l.entries);
  const [text, setText] = useState(before);
  const [file, setFile] = useState("");
  const [dropped, setDropped] = useState<Parsed["dropped"]>([]);
  const path = `/projects/${l.project_id}/lexicon`;
  const read = (format: string, content: string) => create<Parsed>(path + "/file", { format, text: content }, once());
  const save = useAction<Lexicon>(
    async () => {
      const parsed = await read("csv", text);
      return failed(parsed) ? parsed : replace(path, { entries: parsed.entries }, l.version);
    },
    (now) => {
      say(t("lexicon.saved"));
      saved(now);
    },
  );
  const load = useAction<Parsed>(
    async () => {
      const added = await read(file.trimStart().startsWith("<") ? "pls" : "csv", file);
      if (failed(added)) return added;
      const present = await read("csv", text);
      return failed(present) ? present : { entries: merged(present.entries, added.entries), dropped: added.dropped };
    },
    (parsed) => {
      setFile("");
      setDropped(parsed.dropped);
      setText(lines(parsed.entries));
    },
  );
  return (
    <section class="card">
      <div class="pad stack">
        <Form onSend={save.go}>
          <label class="field">
            <span>{t("lexicon.entries", { n: number(l.entries.length) })}</span>
            <textarea
              class="in mono"
              rows={14}
              spellcheck={false}
              readOnly={!mayWrite.value}
              placeholder={"Zepto, ज़ेप्टो\nTata Sky, टाटा स्काय"}
              value={text}
              onInput={(e) => setText(e.currentTarget.value)}
            />
            <span class="xs muted">{t("lexicon.hint")}</span>
          </label>
          <Wrong of={save} />
          <Allowed may={mayWrite.value} why={shared("viewersRead")}>
            {(off) => (
              <span class="row wrap">
                <Go of={save} label={shared("save")} disabled={off || text === before} />
                {save.failure?.code === "lexicon_changed" && (
                  <button type="button" class="btn" onClick={() => void reload()}>
                    {t("lexicon.reload")}
                  </button>
                )}
              </span>
            )}
          </Allowed>
        </Form>
        {mayWrite.value && (
          <Form onSend={load.go}>
            <label class="field">
              <span>{t("lexicon.file")}</span>
              <input
                type="file"
                accept=".csv,.pls,.xml,text/csv"
                onChange={(e) => void e.currentTarget.files?.[0]?.text().then(setFile)}
              />
            </label>
            <Wrong of={load} />
            {dropped.length > 0 && (
              <ul class="small" role="status">
                {dropped.map((d) => (
                  <li>{t("lexicon.dropped", { line: d.line, word: d.word, why: d.reason })}</li>
                ))}
              </ul>
            )}
            <span>
              <Go of={load} label={t("lexicon.import")} disabled={!file} />
            </span>
          </Form>
        )}
        {l.updated_at && (
          <p class="xs muted">
            <code>{l.id}</code> ·{" "}
            {t("lexicon.by", { who: l.updated_by ?? "", when: exact(l.updated_at), n: l.version })}
          </p>
        )}
      </div>
    </section>
  );
}

/** What a text becomes with the lexicon that is saved. */
function Try({ project }: { project: string }) {
  const [text, setText] = useState("");
  const [spoken, setSpoken] = useState("");
  const action = useAction<string>(() => preview(project, text), setSpoken);
  return (
    <section class="card">
      <header>
        <h2>{t("lexicon.try")}</h2>
      </header>
      <div class="pad stack">
        <Form onSend={() => text.trim() && action.go()}>
          <Field label={t("lexicon.text")} value={text} onInput={setText} max={400} />
          <Wrong of={action} />
          <Allowed may={mayWrite.value} why={shared("viewersRead")}>
            {(off) => (
              <span>
                <Go of={action} label={t("lexicon.show")} disabled={off || !text.trim()} />
              </span>
            )}
          </Allowed>
        </Form>
        <p role="status">
          <bdi>{spoken}</bdi>
        </p>
      </div>
    </section>
  );
}

async function preview(project: string, text: string): Promise<Answer<string>> {
  const key = new PlaygroundKey(project, () => mint(project));
  const ask = (again: boolean) =>
    fetchWith(key, api + "/v1/normalize", { method: "POST", body: JSON.stringify({ text }) }, { again });
  try {
    let answer = await ask(false);
    if (answer.status === 401) answer = await ask(true);
    if (answer.ok) return ((await answer.json()) as { normalized: string }).normalized;
    const { code, error, requestID } = await refusal(answer);
    return { failed: true, code, text: error, requestID };
  } catch {
    return unreached();
  }
}
