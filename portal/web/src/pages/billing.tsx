// Months, what they cost, and a sheet of one that can be printed.

import { query } from "../lib/api";
import { DAY, dayOf, exact as exactly, isoDay, month as monthName, number, rupees } from "../lib/format";
import { here } from "../lib/here";
import type { Billing, Month, Usage } from "../lib/portal.gen";
import { ask, org, place, to } from "../lib/router";
import { portal } from "../lib/session";
import { Dialog } from "../ui/dialog";
import { Icon, Logo } from "../ui/icons";
import { useLoad } from "../ui/load";
import { Csv, Empty, Failed, Head, Show } from "../ui/parts";
import { t as shared } from "../ui/words";
import { t } from "./words";

const nameOf = (m: Month) => monthName(dayOf(m.month + "-01"));

export function BillingPage() {
  const billing = useLoad<Billing>(() => portal("/billing" + query({ org_id: org.value })), [org.value]);
  const sheet = billing.value?.months.find((m) => m.month === place.value.query.get("month"));
  return (
    <>
      <Head
        title={t("billing")}
        lead={billing.value && t("billing.lead", { n: billing.value.paise_per_minute })}
        of={here.value?.name}
      >
        <Csv path={"/billing" + query({ org_id: org.value, format: "csv" })} name="swar-billing.csv" />
      </Head>
      <section class="card bl">
        <Show of={billing}>
          {({ months }) =>
            months.length === 0 ? (
              <Empty title={t("billing.empty")} text={t("billing.emptyText")}>
                <a class="btn primary" href={to("playground")}>
                  {shared("toPlayground")}
                </a>
              </Empty>
            ) : (
              <Months months={months} />
            )
          }
        </Show>
      </section>
      {sheet && <Sheet m={sheet} />}
    </>
  );
}

function Months({ months }: { months: Month[] }) {
  return (
    <table>
      <caption class="sr">{t("billing")}</caption>
      <thead>
        <tr>
          <th>{t("billing.month")}</th>
          <th class="hide-s">{t("billing.state")}</th>
          <th class="r">{t("usage.minutes")}</th>
          <th class="r hide-s">{t("usage.requests")}</th>
          <th class="r">{t("usage.amount")}</th>
          <th>
            <span class="sr">{t("billing.sheet")}</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {months.map((m) => (
          <tr data-month={m.month}>
            <td>
              <b>{nameOf(m)}</b>
              <span class="show-s xs muted">{t(`billing.${m.status}`)}</span>
            </td>
            <td class="hide-s">
              <span class={m.status === "open" ? "chip acc" : "chip"}>{t(`billing.${m.status}`)}</span>
            </td>
            <td class="r">{number(m.minutes, 1)}</td>
            <td class="r muted hide-s">{number(m.requests)}</td>
            <td class="r money">
              <b>{rupees(m.amount_paise)}</b>
            </td>
            <td class="r">
              <button type="button" class="btn ghost sm" onClick={() => ask({ month: m.month }, false)}>
                {t("billing.sheet")}
                <span class="sr">, {nameOf(m)}</span>
              </button>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Whose frames they are. What the eight largest keys leave is one row, so that the rows add up to the bill. */
function ByKey({ m }: { m: Month }) {
  const from = dayOf(m.month + "-01");
  const next = new Date(from + 45 * DAY); // some day of the month that follows
  const to = dayOf(isoDay(next.getTime()).slice(0, 8) + "01");
  const usage = useLoad<Usage>(
    () => portal("/usage" + query({ org_id: org.value, from: from / 1000, to: to / 1000, split: "key" })),
    [org.value, m.month],
  );
  if (usage.failure) return <Failed failure={usage.failure} again={usage.reload} />;
  const rows = (usage.value?.series ?? []).map((s) => ({ ...s, sum: s.billed_frames.reduce((n, f) => n + f, 0) }));
  return (
    <table data-by-key>
      <caption class="sr">{t("billing.byKey")}</caption>
      <thead>
        <tr>
          <th>{t("usage.key")}</th>
          <th class="r">{t("billing.frames")}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((s) => (
          <tr>
            <td>
              <bdi>{s.id === "other" ? t("usage.other") : s.name || t("usage.gone")}</bdi>
            </td>
            <td class="r num">{number(s.sum)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Sheet({ m }: { m: Month }) {
  const exact = (m.billed_frames * m.paise_per_minute) / 750;
  return (
    <Dialog title={t("billing.sheetOf", { month: nameOf(m) })} onClose={() => ask({ month: "" })}>
      <div class="sheet">
        <p class="row brand">
          <Logo />
          Swar
        </p>
        <h3>{t("billing.sheetOf", { month: nameOf(m) })}</h3>
        <p class="xs muted">
          {location.host} · {t("billing.asOf", { day: exactly(Date.now()) })}
        </p>
        <dl class="facts">
          <div>
            <dt>{t("settings.org")}</dt>
            <dd>
              <bdi>{here.value?.name}</bdi>
              <br />
              <code class="xs">{here.value?.id}</code>
            </dd>
          </div>
          <div>
            <dt>{t("billing.month")}</dt>
            <dd>
              {nameOf(m)} · {t(`billing.${m.status}`)}
            </dd>
          </div>
          <div>
            <dt>{t("usage.requests")}</dt>
            <dd class="num">{number(m.requests)}</dd>
          </div>
          <div>
            <dt>{t("usage.minutes")}</dt>
            <dd class="num">{number(m.minutes, 3)}</dd>
          </div>
          <div>
            <dt>{t("billing.frames")}</dt>
            <dd class="num">{number(m.billed_frames)}</dd>
          </div>
          <div>
            <dt>{t("billing.rate")}</dt>
            <dd>{t("billing.rateOf", { n: m.paise_per_minute })}</dd>
          </div>
          <div>
            <dt>{t("usage.amount")}</dt>
            <dd class="num">
              {t("billing.sum", { frames: number(m.billed_frames), rate: m.paise_per_minute, paise: number(exact, 2) })}
              <br />
              <b class="money total">{rupees(m.amount_paise)}</b>
              {m.status === "open" && ` ${t("billing.soFar")}`}
            </dd>
          </div>
        </dl>
        <ByKey m={m} />
        <p class="xs muted">{t("billing.notInvoice")}</p>
      </div>
      <div class="row no-print">
        <span class="end row">
          <button type="button" class="btn primary" onClick={() => print()}>
            <Icon name="print" />
            {t("billing.print")}
          </button>
        </span>
      </div>
    </Dialog>
  );
}
