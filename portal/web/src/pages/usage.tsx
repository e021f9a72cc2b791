// Usage of a range: by day and by key, voice or endpoint. The chart, its table and the file say the same.

import { useState } from "preact/hooks";
import { query } from "../lib/api";
import { DAY, dayOf, dayStart, day, isoDay, ms, number, rupees, shortDay, weekday } from "../lib/format";
import { here } from "../lib/here";
import { me, portal } from "../lib/session";
import type { DayUsage, EndpointUsage, Figures, KeyUsage, Usage, VoiceUsage } from "../lib/portal.gen";
import { ask, org, place, to } from "../lib/router";
import { VENDORS } from "../lib/vendors";
import { Bars, Lines, Spark, type BarSeries } from "../ui/chart";
import { Icon } from "../ui/icons";
import { useLoad } from "../ui/load";
import { Csv, Empty, Head, Seg, Show } from "../ui/parts";
import { Projects } from "../ui/projects";
import { colour } from "../ui/series";
import { t as shared } from "../ui/words";
import { t } from "./words";

type Split = "key" | "voice" | "endpoint";

interface Range {
  name: string; // of the button
  from: number; // ms, included
  to: number; // ms, not included
}

/** The range that the address names: 7d, 30d, 90d, month, or two days; 30 days where it names none. */
export function rangeOf(q: URLSearchParams, now: number): Range {
  const end = dayStart(now) + DAY;
  const name = q.get("range") ?? "30d";
  const days = { "7d": 7, "30d": 30, "90d": 90 }[name];
  if (days) return { name, from: end - days * DAY, to: end };
  if (name === "month") return { name, from: dayOf(isoDay(now).slice(0, 8) + "01"), to: end };
  const [first, last] = [dayOf(name.slice(0, 10)), dayOf(name.slice(11))];
  if (first <= last) return { name: "own", from: first, to: last + DAY };
  return { name: "30d", from: end - 30 * DAY, to: end };
}

const asked = (r: { from: number; to: number }, more: Record<string, string>) =>
  query({
    org_id: org.value,
    project_id: place.value.query.get("project") ?? "",
    from: r.from / 1000,
    to: r.to / 1000,
    ...more,
  });

/** Minutes of frames of 80 ms. */
const minutes = (frames: number) => frames / 750;

export function UsagePage() {
  const q = place.value.query;
  const range = rangeOf(q, Date.now());
  const split = (["key", "voice", "endpoint"].find((s) => s === q.get("split")) ?? "key") as Split;
  const usage = useLoad<Usage>(
    () => portal("/usage" + asked(range, { split })),
    [org.value, range.from, range.to, split, q.get("project")],
  );
  const before = useLoad<Usage>(
    () => portal("/usage" + asked({ from: 2 * range.from - range.to, to: range.from }, {})),
    [org.value, range.from, range.to, q.get("project")],
  );
  const last = range.to - 1;
  return (
    <>
      <Head title={t("usage")} lead={t("usage.lead", { from: day(range.from), to: day(last) })} of={here.value?.name}>
        <Seg
          label={t("usage.range")}
          value={range.name}
          onChoose={(k) => ask({ range: k === "own" ? `${isoDay(range.from)}.${isoDay(last)}` : k })}
          choices={[
            { key: "7d", label: t("usage.7") },
            { key: "30d", label: t("usage.30") },
            { key: "90d", label: t("usage.90") },
            { key: "month", label: t("usage.month") },
            { key: "own", label: t("usage.own") },
          ]}
        />
        {range.name === "own" && <Own range={range} />}
        <Projects every value={q.get("project") ?? ""} />
        <Csv
          path={"/usage" + asked(range, { split, format: "csv" })}
          name={`swar-usage-${isoDay(range.from)}-${isoDay(last)}.csv`}
        />
      </Head>
      <Show of={usage} rows={12}>
        {(u) =>
          u.totals.requests === 0 ? (
            <section class="card">
              <Empty title={t("usage.empty")} text={t("usage.emptyText")}>
                <a class="btn primary" href={to("playground")}>
                  {shared("toPlayground")}
                </a>
              </Empty>
            </section>
          ) : (
            <>
              <Totals u={u} before={before.value} days={Math.round((range.to - range.from) / DAY)} />
              <ByDay u={u} split={split} />
              <div class="two">
                <section class="card">
                  <header>
                    <h2>{t("usage.first")}</h2>
                    <span class="end row xs muted">
                      <span class="ln-key c1" />
                      p50
                      <span class="ln-key c2 dashed" />
                      p95, ms
                    </span>
                  </header>
                  <Lines
                    label={t("usage.ms")}
                    ends={[shortDay(range.from), shortDay(last)]}
                    series={[
                      { name: "p50", values: u.by_day.map((d) => d.ttfa_p50_ms) },
                      { name: "p95", dashed: true, values: u.by_day.map((d) => d.ttfa_p95_ms) },
                    ]}
                  />
                </section>
                <VoicesAndEndpoints u={u} />
              </div>
            </>
          )
        }
      </Show>
    </>
  );
}

function Own({ range }: { range: Range }) {
  const put = (from: string, until: string) => {
    const days = (dayOf(until) - dayOf(from)) / DAY;
    if (days >= 0 && days < 400) ask({ range: `${from}.${until}` });
  };
  const [from, until] = [isoDay(range.from), isoDay(range.to - 1)];
  return (
    <span class="row own">
      <input
        class="in"
        type="date"
        aria-label={t("usage.from")}
        value={from}
        max={until}
        onChange={(e) => put(e.currentTarget.value, until)}
      />
      <input
        class="in"
        type="date"
        aria-label={t("usage.to")}
        value={until}
        min={from}
        onChange={(e) => put(from, e.currentTarget.value)}
      />
    </span>
  );
}

function Totals({ u, before, days }: { u: Usage; before: Usage | undefined; days: number }) {
  const was = before?.totals.frames ?? 0;
  const change = was > 0 ? (u.totals.frames / was - 1) * 100 : 0;
  return (
    <dl class="kpi card">
      <div>
        <dt>{t("usage.audio")}</dt>
        <dd>
          <b class="num" data-total="minutes">
            {number(minutes(u.totals.frames), 1)}
          </b>{" "}
          {t("usage.min")}
        </dd>
        <dd class="xs muted">
          {before &&
            (was > 0 ? (
              <>
                <span class={change >= 0 ? "up" : "downward"}>
                  {change >= 0 ? "▲" : "▼"} {number(Math.abs(change), 1)} %
                </span>{" "}
                {t("usage.before", { n: days })}
              </>
            ) : (
              t("usage.nothingBefore", { n: days })
            ))}
        </dd>
        <Spark values={u.by_day.map((d) => d.frames)} />
      </div>
      <div>
        <dt>{t("usage.amount")}</dt>
        <dd>
          <b class="num money" data-total="amount">
            {rupees(u.totals.amount_paise)}
          </b>
        </dd>
        <dd class="xs muted">{t("usage.rate", { n: me.value?.pricing.paise_per_minute ?? 20 })}</dd>
      </div>
      <div>
        <dt>{t("usage.requests")}</dt>
        <dd>
          <b class="num" data-total="requests">
            {number(u.totals.requests)}
          </b>
        </dd>
        <dd class="xs muted">
          {t("usage.ended", { errors: number(u.totals.errors), cancelled: number(u.totals.cancelled) })}
        </dd>
        <Spark values={u.by_day.map((d) => d.requests)} />
      </div>
      <div>
        <dt>{t("usage.first")}</dt>
        <dd>
          <b class="num">{ms(u.ttfa_p50_ms)}</b>
        </dd>
        <dd class="xs muted">{t("usage.p95", { ms: ms(u.ttfa_p95_ms) })}</dd>
      </div>
    </dl>
  );
}

const endpointName = (e: string) => (e === "rest" ? "REST" : e === "ws" ? "WebSocket" : (VENDORS[e] ?? e));
const nameOf = (split: Split, s: { id: string; name: string }) =>
  s.id === "other"
    ? t("usage.other")
    : split === "endpoint"
      ? endpointName(s.id)
      : s.id === "playground"
        ? t("requests.playground")
        : s.name || t("usage.gone");

function ByDay({ u, split }: { u: Usage; split: Split }) {
  const [table, setTable] = useState(false);
  const series: BarSeries[] = (u.series ?? []).map((s) => ({
    name: nameOf(split, s),
    other: s.id === "other",
    values: s.frames.map(minutes),
  }));
  const days = u.by_day.map((d) => dayOf(d.date));
  return (
    <section class="card" aria-labelledby="by-day">
      <header>
        <h2 id="by-day">{t("usage.byDay")}</h2>
        <span class="end row wrap">
          <span class="xs muted hide-s">{t("usage.split")}</span>
          <Seg
            small
            label={t("usage.split")}
            value={split}
            onChoose={(k) => ask({ split: k === "key" ? "" : k })}
            choices={[
              { key: "key", label: t("usage.key") },
              { key: "voice", label: t("usage.voice") },
              { key: "endpoint", label: t("usage.endpoint") },
            ]}
          />
          <button type="button" class="btn ghost sm" aria-pressed={table} onClick={() => setTable(!table)}>
            <Icon name={table ? "bars" : "table"} />
            {t(table ? "usage.chart" : "usage.table")}
          </button>
        </span>
      </header>
      {table ? (
        <Days u={u} series={series} />
      ) : (
        <Bars
          label={t("usage.byDay")}
          days={days.map(shortDay)}
          titles={days.map(weekday)}
          series={series}
          digits={1}
          foot={(i) => [
            `${number(minutes(u.by_day[i]!.frames), 1)} ${t("usage.min")}`,
            rupees(u.by_day[i]!.amount_paise),
          ]}
        />
      )}
      <Parts u={u} split={split} />
    </section>
  );
}

const MOST_DAYS = 60; // rows of a table at once

function Days({ u, series }: { u: Usage; series: BarSeries[] }) {
  const [chosen, choose] = useState(0);
  const pages = Math.ceil(u.by_day.length / MOST_DAYS);
  const page = Math.min(chosen, pages - 1); // 0 has the newest days
  const end = u.by_day.length - page * MOST_DAYS;
  const start = Math.max(0, end - MOST_DAYS);
  const row = (d: DayUsage, at: number) => {
    const i = start + at;
    return (
      <tr>
        <td>{day(dayOf(d.date))}</td>
        {series.map((s) => (
          <td class="r">{number(s.values[i] ?? 0, 1)}</td>
        ))}
        <td class="r">{number(minutes(d.frames), 1)}</td>
        <td class="r">{number(d.requests)}</td>
        <td class="r">{rupees(d.amount_paise)}</td>
      </tr>
    );
  };
  return (
    <>
      <div class="days" tabIndex={0} role="region" aria-label={t("usage.table")}>
        <table>
          <caption class="sr">{t("usage.byDay")}</caption>
          <thead>
            <tr>
              <th>{t("usage.day")}</th>
              {series.map((s) => (
                <th class="r">
                  <bdi>{s.name}</bdi>
                </th>
              ))}
              <th class="r">{t("usage.minutes")}</th>
              <th class="r">{t("usage.requests")}</th>
              <th class="r">{t("usage.amount")}</th>
            </tr>
          </thead>
          <tbody>{u.by_day.slice(start, end).map(row).reverse()}</tbody>
        </table>
      </div>
      {pages > 1 && (
        <p class="row wrap">
          <button type="button" class="btn sm" data-newer disabled={page === 0} onClick={() => choose(page - 1)}>
            {t("usage.newer")}
          </button>
          <button
            type="button"
            class="btn sm"
            data-older
            disabled={page === pages - 1}
            onClick={() => choose(page + 1)}
          >
            {t("usage.older")}
          </button>
          <span class="xs muted" role="status">
            {t("usage.span", { from: day(dayOf(u.by_day[start]!.date)), to: day(dayOf(u.by_day[end - 1]!.date)) })}
          </span>
        </p>
      )}
    </>
  );
}

interface Part extends Figures {
  id: string;
  name: string;
  ttfa_p50_ms: number | null;
}

function partsOf(u: Usage, split: Split): Part[] {
  const key = (k: KeyUsage) => ({
    ...k,
    id: k.key_id,
    name: nameOf("key", { id: k.key_id, name: k.name || (k.prefix && k.prefix + "…") }),
  });
  const voice = (v: VoiceUsage) => ({ ...v, id: v.voice, name: v.voice });
  const endpoint = (e: EndpointUsage) => ({ ...e, id: e.endpoint, name: endpointName(e.endpoint) });
  const all: Part[] =
    split === "key" ? u.by_key.map(key) : split === "voice" ? u.by_voice.map(voice) : u.by_endpoint.map(endpoint);
  return all.sort((a, b) => b.frames - a.frames);
}

function Parts({ u, split }: { u: Usage; split: Split }) {
  const all = partsOf(u, split);
  const most = Math.max(1, ...all.map((p) => p.frames));
  const series = u.series ?? [];
  const tint = (id: string) => {
    const i = series.findIndex((s) => s.id === id);
    return colour(i, i < 0);
  };
  return (
    <table class="bk">
      <thead>
        <tr>
          <th>{t(`usage.${split}`)}</th>
          <th class="bw">
            <span class="sr">{t("usage.share")}</span>
          </th>
          <th class="r">{t("usage.minutes")}</th>
          <th class="r hide-s">{t("usage.requests")}</th>
          <th class="r hide-s">p50</th>
          <th class="r">{t("usage.amount")}</th>
        </tr>
      </thead>
      <tbody>
        {all.map((p) => (
          <tr data-part={p.id}>
            <td>
              <span class="row">
                <span class={"sq2 " + tint(p.id)} />
                <bdi>{p.name}</bdi>
              </span>
            </td>
            <td class="bw">
              <span class={tint(p.id)} style={{ width: (p.frames * 100) / most + "%" }} />
            </td>
            <td class="r">{number(minutes(p.frames), 1)}</td>
            <td class="r muted hide-s">{number(p.requests)}</td>
            <td class="r muted hide-s">{ms(p.ttfa_p50_ms)}</td>
            <td class="r">{rupees(p.amount_paise)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function VoicesAndEndpoints({ u }: { u: Usage }) {
  const rows = [
    ...partsOf(u, "voice").map((p) => ({ ...p, c: "c1" })),
    ...partsOf(u, "endpoint").map((p) => ({ ...p, c: "c3" })),
  ];
  const most = Math.max(1, ...rows.map((p) => p.frames));
  return (
    <section class="card">
      <header>
        <h2>{t("usage.ve")}</h2>
      </header>
      <table class="bk plain">
        <thead class="sr">
          <tr>
            <th>{t("usage.voice")}</th>
            <th>{t("usage.share")}</th>
            <th>{t("usage.minutes")}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((p) => (
            <tr>
              <td>{p.name}</td>
              <td class="bw">
                <span class={p.c} style={{ width: (p.frames * 100) / most + "%" }} />
              </td>
              <td class="r">{number(minutes(p.frames), 1)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
