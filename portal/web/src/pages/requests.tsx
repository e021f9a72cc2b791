// What was spoken, newest first: filtered by the address, live, with a drawer for one.

import { useEffect, useRef, useState } from "preact/hooks";
import { away, failed, query } from "../lib/api";
import { clock, exact, ms, number } from "../lib/format";
import { api, here, projectName, voiceNames } from "../lib/here";
import type { Key, Keys, Request, Requests } from "../lib/portal.gen";
import { singleKeys } from "../lib/choices";
import { ask, org, place, to } from "../lib/router";
import { portal } from "../lib/session";
import { VENDORS } from "../lib/vendors";
import { digitsOf } from "../play/wire";
import { Dialog } from "../ui/dialog";
import { Icon } from "../ui/icons";
import { useEvery, useLoad, useSettled } from "../ui/load";
import { CopyButton, Csv, Empty, Find, Head, Line, Select, Show } from "../ui/parts";
import { Projects } from "../ui/projects";
import { Rows } from "../ui/rows";
import { t as shared } from "../ui/words";
import { t } from "./words";

const PAGE = 200;
const HEIGHT = 44; // of a row, px
const FILTERS = ["status", "voice", "endpoint", "key", "project", "slow", "q"] as const;

const asked = (more: Record<string, string | number>) => {
  const q = place.value.query;
  return query({
    org_id: org.value,
    status: q.get("status") ?? "",
    voice: q.get("voice") ?? "",
    endpoint: q.get("endpoint") ?? "",
    key_id: q.get("key") ?? "",
    project_id: q.get("project") ?? "",
    min_ttfa_ms: q.get("slow") ?? "",
    request_id: (q.get("q") ?? "").trim(),
    ...more,
  });
};

/** Names of keys by their identifiers. */
type Names = ReadonlyMap<string, string>;

interface List {
  rows: Request[];
  next: string;
}

/** The rows that fit the filters. More come at the end; new ones come on top, by a second question each second for what is newer only. */
function useRequests(live: boolean) {
  const filters = useSettled(asked({}), 250);
  const list = useLoad<List>(async () => {
    const a = await portal<Requests>("/requests" + asked({ limit: PAGE }));
    return failed(a) ? a : { rows: a.requests, next: a.next_cursor ?? "" };
  }, [filters]);
  const latest = useRef(list);
  latest.current = list;
  const busy = useRef(false);
  const fetchMore = async (more: Record<string, string | number>, put: (l: List, a: Requests) => List) => {
    const before = latest.current.value;
    if (!before || busy.current) return;
    busy.current = true;
    const a = await portal<Requests>("/requests" + asked(more));
    busy.current = false;
    const now = latest.current.value;
    if (!failed(a) && now === before && asked({}) === filters) latest.current.set(put(now, a));
  };
  const older = () =>
    void (
      list.value?.next &&
      fetchMore({ limit: PAGE, cursor: list.value.next }, (l, a) => ({
        rows: [...l.rows, ...a.requests],
        next: a.next_cursor ?? "",
      }))
    );
  // A request that runs changes its row, and rows of the last seconds come out of order: a little is asked for again.
  const newer = () => {
    const rows = list.value?.rows ?? [];
    const running = rows.slice(0, PAGE).findLast((r) => r.status === "running");
    const since = Math.min(Date.parse(running?.ts ?? rows[0]?.ts ?? ""), Date.parse(rows[0]?.ts ?? "") - 5000);
    return void fetchMore({ limit: PAGE, ...(Number.isFinite(since) ? { from: since / 1000 } : {}) }, (l, a) => ({
      ...l,
      rows: merged(a.requests, l.rows),
    }));
  };
  useEvery(1000, newer, live && !list.failure);
  return { list, older };
}

function merged(fresh: Request[], old: Request[]): Request[] {
  const known = new Map(old.map((r) => [r.request_id, r]));
  if (fresh.every((r) => JSON.stringify(known.get(r.request_id)) === JSON.stringify(r))) return old;
  const ids = new Set(fresh.map((r) => r.request_id));
  return [...fresh, ...old.filter((r) => !ids.has(r.request_id))].sort((a, b) =>
    a.ts < b.ts ? 1 : a.ts > b.ts ? -1 : a.request_id < b.request_id ? 1 : -1,
  );
}

export function RequestsPage() {
  const q = place.value.query;
  const live = !q.has("paused");
  const { list, older } = useRequests(live);
  const open = q.get("id") ?? "";
  const filtered = FILTERS.some((f) => q.get(f));
  const keys = useLoad<Keys>(() => portal("/keys" + query({ org_id: org.value })), [org.value]);
  const names = new Map(keys.value?.keys.map((k) => [k.id, k.name]));
  return (
    <>
      <Head title={t("requests")} lead={t("requests.lead")} of={here.value?.name}>
        <button type="button" class="btn" aria-pressed={live} onClick={() => ask({ paused: live ? "1" : "" })}>
          <span class={live && !away.value ? "dot on" : "dot off"} data-live />
          {t(live ? "requests.live" : "requests.paused")}
        </button>
        <Csv path={"/requests" + asked({ format: "csv" })} name="swar-requests.csv" />
      </Head>
      <Filters filtered={filtered} keys={keys.value?.keys ?? []} />
      <section class="card rq">
        <Show of={list} rows={10}>
          {({ rows, next }) =>
            rows.length === 0 ? (
              <Nothing filtered={filtered} />
            ) : (
              <Table rows={rows} names={names} more={next !== ""} older={older} />
            )
          }
        </Show>
      </section>
      {list.value && list.value.rows.length > 0 && (
        <p class="xs faint note-below num" role="status">
          {t("requests.all", { n: number(list.value.rows.length) })}
        </p>
      )}
      {open && <Drawer id={open} names={names} />}
    </>
  );
}

/** The name of the key of a request, by which people know it: of a revoked one, too. */
function keyName(r: Request, names: Names): string {
  return names.get(r.key_id) || (r.key_prefix.startsWith("swar_play_") ? t("requests.playground") : r.key_prefix + "…");
}

function Filters({ filtered, keys }: { filtered: boolean; keys: Key[] }) {
  const q = place.value.query;
  return (
    <div class="row wrap tools">
      <Find label={t("requests.id")} value={q.get("q") ?? ""} onInput={(v) => ask({ q: v })} />
      <Select
        label={t("requests.status")}
        value={q.get("status") ?? ""}
        onChoose={(v) => ask({ status: v })}
        choices={[
          ["", t("requests.anyStatus")],
          ["ok", t("requests.ok")],
          ["running", t("requests.running")],
          ["cancelled", t("requests.cancelled")],
          ["error", t("requests.failed")],
          ["timeout", t("requests.timeout")],
        ]}
      />
      <Select
        label={t("requests.voice")}
        value={q.get("voice") ?? ""}
        onChoose={(v) => ask({ voice: v })}
        choices={[["", t("requests.anyVoice")], ...voiceNames.value.map((v) => [v, v] as const)]}
      />
      <Select
        label={t("requests.endpoint")}
        value={q.get("endpoint") ?? ""}
        onChoose={(v) => ask({ endpoint: v })}
        choices={[
          ["", t("requests.anyEndpoint")],
          ["rest", t("requests.rest")],
          ["ws", t("requests.ws")],
          ...Object.entries(VENDORS),
        ]}
      />
      <Select
        label={t("keys.key")}
        value={q.get("key") ?? ""}
        onChoose={(v) => ask({ key: v })}
        choices={[["", t("requests.anyKey")], ...keys.map((k) => [k.id, `${k.name} (${k.prefix}…)`] as const)]}
      />
      <Projects every value={q.get("project") ?? ""} />
      <Select
        label={t("requests.slower")}
        value={q.get("slow") ?? ""}
        onChoose={(v) => ask({ slow: v })}
        choices={[
          ["", t("requests.slower") + " …"],
          ...["50", "100", "200", "500", "1000"].map((n) => [n, `≥ ${n} ms`] as const),
        ]}
      />
      {filtered && (
        <button type="button" class="btn ghost" onClick={() => ask(Object.fromEntries(FILTERS.map((f) => [f, ""])))}>
          {t("requests.clear")}
        </button>
      )}
    </div>
  );
}

const CURL = `curl -sS ${api}/v1/tts -H "x-api-key: $SWAR_KEY" -d '{"text":"Namaste!","stream":false}' -o namaste.wav`;

export function Nothing({ filtered }: { filtered: boolean }) {
  if (filtered) return <Empty title={t("requests.none")} />;
  return (
    <Empty title={t("requests.empty")} text={t("requests.emptyText")}>
      <Line text={CURL} label={t("requests.copyLine")} />
      <a class="btn primary" href={to("playground")}>
        <Icon name="play" />
        {shared("toPlayground")}
      </a>
    </Empty>
  );
}

const CHIPS = { ok: "ok", cancelled: "warn", error: "bad", timeout: "bad", running: "acc" } as const;

export function Status({ of }: { of: Request["status"] }) {
  return (
    <span class={"chip " + CHIPS[of]}>
      {of === "ok" && <span class="dot" />}
      {t(of === "error" ? "requests.failed" : `requests.${of}`)}
    </span>
  );
}

export const endpoint = (e: string) => (e === "rest" || e === "ws" ? t(`requests.${e}`) : (VENDORS[e] ?? e));

interface TableProps {
  rows: Request[];
  names: Names;
  more: boolean; // there are older ones
  older(): void;
}

function Table({ rows, names, more, older }: TableProps) {
  const [at, setAt] = useState(""); // id of the row that the keys have come to: new rows on top move it
  const key = (e: KeyboardEvent) => {
    const by = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[e.key];
    const box = (e.currentTarget as HTMLElement).querySelector(".rows");
    if (!by || !box || (e.key.length === 1 && !singleKeys.value)) return;
    const next = Math.min(rows.length - 1, Math.max(0, rows.findIndex((r) => r.request_id === at) + by));
    box.scrollTop = Math.min(next * HEIGHT, Math.max(box.scrollTop, (next + 1) * HEIGHT - box.clientHeight));
    setAt(rows[next]!.request_id);
    e.preventDefault();
  };
  useEffect(() => {
    if (at) document.querySelector<HTMLElement>(`[data-request="${CSS.escape(at)}"]`)?.focus({ preventScroll: true });
  }, [at]);
  return (
    <div class="rqt" onKeyDown={key}>
      <div class="rr-row head-row" aria-hidden="true">
        <span>{t("requests.time")}</span>
        <span>{t("requests.status")}</span>
        <span>{t("requests.voice")}</span>
        <span>{t("requests.endpoint")}</span>
        <span>{t("keys.key")}</span>
        <span class="r">{t("requests.chars")}</span>
        <span class="r">{t("requests.audio")}</span>
        <span class="r">{t("requests.first")}</span>
      </div>
      <Rows
        count={rows.length}
        height={HEIGHT}
        label={t("requests")}
        onEnd={more ? older : undefined}
        row={(i) => {
          const r = rows[i]!;
          return (
            <a
              key={r.request_id}
              class={r.request_id === at ? "rr-row at" : "rr-row"}
              data-request={r.request_id}
              href={to("requests") + withID(r.request_id)}
              title={exact(r.ts)}
            >
              <span class="num tx">{clock(r.ts)}</span>
              <span class="sx">
                <Status of={r.status} />
              </span>
              <span class="vx">{r.voice}</span>
              <span class="muted ex">{endpoint(r.endpoint)}</span>
              <bdi class="kx cut" title={r.key_prefix + "…"}>
                {r.key_id && keyName(r, names)}
              </bdi>
              <span class="r num cx">{number(r.chars)}</span>
              <span class="r num ax2">{number(r.audio_s, 1)} s</span>
              <span class="r num fx">{ms(r.ttfa_ms)}</span>
            </a>
          );
        }}
      />
    </div>
  );
}

function withID(id: string): string {
  const q = new URLSearchParams(place.value.query);
  q.set("id", id);
  return "?" + q;
}

// A seed has 64 bits, more than a number of JavaScript holds: it is read from the text of the answer.
async function one(id: string) {
  const answer = await portal<Response>("/requests" + query({ org_id: org.value, request_id: id, limit: 1 }), {
    raw: true,
  });
  if (failed(answer)) return answer;
  const text = await answer.text();
  const { requests } = JSON.parse(text) as Requests;
  return { row: requests[0], seed: digitsOf(text, "seed") };
}

function Drawer({ id, names }: { id: string; names: Names }) {
  const row = useLoad(() => one(id), [id]);
  useEvery(
    1000,
    () => void row.reload(),
    row.value?.row?.status === "running" || (row.value !== undefined && !row.value.row),
  );
  const close = () => ask({ id: "" });
  return (
    <Dialog drawer title={t("requests.id")} onClose={close}>
      <p class="row">
        <code class="grow cut">{id}</code>
        <CopyButton text={id} label={shared("copy")} />
      </p>
      <Show of={row}>
        {({ row: r, seed }) =>
          r ? <Detail r={r} names={names} seed={seed || String(r.seed)} /> : <Empty title={t("requests.none")} />
        }
      </Show>
    </Dialog>
  );
}

function Detail({ r, names, seed }: { r: Request; names: Names; seed: string }) {
  const [seen] = useState(Date.now);
  const until = r.status === "running" ? Math.max(r.wall_ms, seen - Date.parse(r.ts)) : r.wall_ms;
  const first = Math.max(0, (r.ttfa_ms ?? 0) - r.queue_ms);
  const rest = Math.max(0, until - r.queue_ms - first);
  const parts = [
    ["requests.queue", r.queue_ms, "c5"],
    ["requests.sound", first, "c2"],
    ["requests.stream", rest, "c1"],
  ] as const;
  const facts: readonly (readonly [string, preact.ComponentChildren])[] = [
    [t("requests.time"), exact(r.ts)],
    [t("requests.status"), <Status of={r.status} />],
    ...(r.error ? [[t("requests.error"), <code>{r.error}</code>] as const] : []),
    [t("requests.voice"), r.voice],
    [t("requests.endpoint"), endpoint(r.endpoint)],
    [t("requests.format"), r.format],
    [
      t("keys.key"),
      <>
        <bdi>{keyName(r, names)}</bdi> <code class="xs">{r.key_prefix}…</code>
      </>,
    ],
    [shared("project"), <bdi>{projectName(r.project_id)}</bdi>],
    [t("requests.chars"), number(r.chars)],
    [t("requests.chunks"), number(r.chunks)],
    [t("requests.audio"), number(r.audio_s, 2) + " s"],
    [t("requests.frames"), `${number(r.frames)}, ${number(r.billed_frames)}`],
    ["RTF", r.rtf === null ? "–" : number(r.rtf, 3)],
    [t("requests.cached"), r.prefill_cached ? "✓" : "–"],
    [t("requests.seed"), <code>{seed}</code>],
    [t("requests.pod"), <code>{r.pod}</code>],
  ];
  return (
    <>
      <div class="timing">
        <p class="xs muted num">{t("requests.total", { ms: ms(until) })}</p>
        <div class="tb" role="img" aria-label={parts.map(([k, v]) => `${t(k)} ${ms(v)}`).join(", ")}>
          {parts.map(([, v, c]) => v > 0 && <span class={c} style={{ flexGrow: v }} />)}
        </div>
        <dl class="tl small">
          {parts.map(([k, v, c]) => (
            <div>
              <dt>
                <span class={"sq2 " + c} />
                {t(k)}
              </dt>
              <dd class="num">{ms(v)}</dd>
            </div>
          ))}
        </dl>
      </div>
      <dl class="facts small">
        {facts.map(([k, v]) => (
          <div>
            <dt>{k}</dt>
            <dd class="num">{v}</dd>
          </div>
        ))}
      </dl>
      <a class="btn" href={`${to("playground")}${query({ seed, voice: r.voice })}`}>
        <Icon name="play" />
        {t("requests.seedPlay")}
      </a>
    </>
  );
}
