// How the organisation is doing: today, this month, the last requests; or the three steps to the first call.

import { query } from "../lib/api";
import { clock, DAY, dayOf, dayStart, exact, isoDay, ms, number, rupees } from "../lib/format";
import { health } from "../lib/health";
import { here } from "../lib/here";
import type { Keys, Requests, Usage } from "../lib/portal.gen";
import { org, to } from "../lib/router";
import { portal } from "../lib/session";
import { Spark } from "../ui/chart";
import { Icon } from "../ui/icons";
import { settled, useEvery, useLoad } from "../ui/load";
import { Head, Show, Skeleton } from "../ui/parts";
import { endpoint, Nothing, Status } from "./requests";
import { t } from "./words";

export function OverviewPage() {
  const now = Date.now();
  const end = dayStart(now) + DAY;
  const usage = useLoad<Usage>(
    () =>
      portal(
        "/usage" + query({ org_id: org.value, from: dayOf(isoDay(now).slice(0, 8) + "01") / 1000, to: end / 1000 }),
      ),
    [org.value, end],
  );
  const last = useLoad<Requests>(() => portal("/requests" + query({ org_id: org.value, limit: 5 })), [org.value]);
  const keys = useLoad<Keys>(() => portal("/keys" + query({ org_id: org.value })), [org.value]);
  useEvery(5000, () => {
    void last.reload();
    if (!used(keys.value)) void keys.reload();
  });
  useEvery(30_000, () => void usage.reload());
  const head = <Head title={t("overview")} lead={t("overview.lead")} of={here.value?.name} />;
  if (!settled(usage, last, keys))
    return (
      <>
        {head}
        <Skeleton rows={10} />
      </>
    );
  return (
    <>
      {head}
      {last.value && keys.value && <Steps heard={last.value.requests.length > 0} keys={keys.value} />}
      <Show of={usage} rows={3}>
        {(u) => <Totals u={u} />}
      </Show>
      <section class="card rq">
        <header>
          <h2>{t("overview.last")}</h2>
          <a class="btn ghost sm end" href={to("requests")}>
            {t("overview.allRequests")}
          </a>
        </header>
        <Show of={last} rows={5}>
          {({ requests }) =>
            requests.length === 0 ? (
              <Nothing filtered={false} />
            ) : (
              <div class="rqt">
                {requests.map((r) => (
                  <a class="rr-row" href={to("requests") + query({ id: r.request_id })} title={exact(r.ts)}>
                    <span class="num tx">{clock(r.ts)}</span>
                    <span class="sx">
                      <Status of={r.status} />
                    </span>
                    <span class="vx">{r.voice}</span>
                    <span class="muted ex">{endpoint(r.endpoint)}</span>
                    <code class="kx">{r.key_prefix}…</code>
                    <span class="r num cx">{number(r.chars)}</span>
                    <span class="r num ax2">{number(r.audio_s, 1)} s</span>
                    <span class="r num fx">{ms(r.ttfa_ms)}</span>
                  </a>
                ))}
              </div>
            )
          }
        </Show>
      </section>
    </>
  );
}

function Totals({ u }: { u: Usage }) {
  const today = u.by_day.at(-1);
  const asked = useLoad(health, []);
  useEvery(10_000, () => void asked.reload());
  const h = asked.value;
  return (
    <dl class="kpi card">
      <div>
        <dt>{t("overview.today")}</dt>
        <dd>
          <b class="num">{number((today?.frames ?? 0) / 750, 1)}</b> {t("usage.min")}
        </dd>
        <dd class="xs muted num">{rupees(today?.amount_paise ?? 0)}</dd>
      </div>
      <div>
        <dt>{t("overview.month")}</dt>
        <dd>
          <b class="num">{number(u.totals.frames / 750, 1)}</b> {t("usage.min")}
        </dd>
        <dd class="xs num money">{rupees(u.totals.amount_paise)}</dd>
        <Spark values={u.by_day.map((d) => d.frames)} />
      </div>
      <div>
        <dt>{t("usage.requests")}</dt>
        <dd>
          <b class="num">{number(u.totals.requests)}</b>
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
      <div>
        <dt>{t("overview.free")}</dt>
        <dd>
          <b class="num">{h ? h.workers_ready - h.workers_busy : "–"}</b> {h && t("overview.ofAll", { n: h.workers })}
        </dd>
        <dd class="xs muted">{h ? t("overview.waiting", { n: h.queue_depth }) : t("overview.healthAway")}</dd>
      </div>
    </dl>
  );
}

const used = (keys: Keys | undefined) => keys?.keys.some((k) => k.last_used_at) ?? false;

/** Until a key has spoken: what is done already is ticked. */
function Steps({ heard, keys }: { heard: boolean; keys: Keys }) {
  if (used(keys)) return null;
  const steps = [
    ["hear", "playground", heard],
    ["key", "keys?new=1", keys.keys.length > 0],
    ["first", "requests", false],
  ] as const;
  return (
    <section class="card steps">
      <header>
        <h2>{t("overview.steps")}</h2>
      </header>
      <ol>
        {steps.map(([name, page, done], i) => (
          <li class={done ? "done" : ""}>
            <span class="n">{done ? <Icon name="tick" /> : i + 1}</span>
            <div class="grow">
              <a href={to(page)}>{t(`overview.${name}`)}</a>
              <p class="small muted">{t(`overview.${name}Text`)}</p>
            </div>
            {done && <span class="chip ok">{t("overview.done")}</span>}
          </li>
        ))}
      </ol>
    </section>
  );
}
