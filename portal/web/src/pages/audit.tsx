// Who changed what, and when.

import { useState } from "preact/hooks";
import { failed, query } from "../lib/api";
import { ago, exact } from "../lib/format";
import { here, isOwner } from "../lib/here";
import type { Audit, AuditEntry } from "../lib/portal.gen";
import { ask, org, place } from "../lib/router";
import { portal } from "../lib/session";
import { useLoad } from "../ui/load";
import { Icon } from "../ui/icons";
import { Empty, Failed, Head, Show } from "../ui/parts";
import type { Failure } from "../lib/api";
import { t as shared } from "../ui/words";
import { t } from "./words";

const PAGE = 100;
const ofPlayground = (e: AuditEntry) => e.detail.kind === "playground";

export function AuditPage() {
  if (isOwner.value) return <Log />;
  return (
    <>
      <Head title={t("audit")} lead={t("audit.lead")} of={here.value?.name} />
      <section class="card">
        <Locked />
      </section>
    </>
  );
}

/** What stands in the place of what only owners may see: it is not asked for. */
function Locked() {
  return (
    <div class="empty" data-locked>
      <Icon name="lock" />
      <p class="title">{shared("ownersOnly")}</p>
      <p class="muted small">{t("audit.locked")}</p>
    </div>
  );
}

function Log() {
  const list = useLoad<Audit>(() => portal(`/orgs/${org.value}/audit` + query({ limit: PAGE })), [org.value]);
  const all = place.value.query.has("playground");
  const [failure, setFailure] = useState<Failure>();
  const older = async () => {
    const before = list.value;
    if (!before?.next_cursor) return;
    const a = await portal<Audit>(`/orgs/${org.value}/audit` + query({ limit: PAGE, cursor: before.next_cursor }));
    setFailure(failed(a) ? a : undefined);
    if (!failed(a)) list.set({ ...a, entries: [...before.entries, ...a.entries] });
  };
  return (
    <>
      <Head title={t("audit")} lead={t("audit.lead")} of={here.value?.name}>
        <label class="row small">
          <input
            type="checkbox"
            role="switch"
            checked={all}
            onChange={(e) => ask({ playground: e.currentTarget.checked ? "1" : "" })}
          />{" "}
          {t("audit.play")}
        </label>
      </Head>
      <section class="card kt au">
        <Show of={list} rows={10}>
          {({ entries, next_cursor }) => {
            const rows = entries.filter((e) => all || !ofPlayground(e));
            return rows.length === 0 && !next_cursor ? (
              <Empty title={t("audit.empty")} />
            ) : (
              <>
                <Table rows={rows} />
                {next_cursor && (
                  <p class="pad">
                    <button type="button" class="btn" onClick={() => void older()}>
                      {shared("older")}
                    </button>
                  </p>
                )}
              </>
            );
          }}
        </Show>
        {failure && <Failed failure={failure} again={older} />}
      </section>
    </>
  );
}

function Table({ rows }: { rows: AuditEntry[] }) {
  return (
    <table>
      <caption class="sr">{t("audit")}</caption>
      <thead>
        <tr>
          <th>{t("audit.when")}</th>
          <th>{t("audit.who")}</th>
          <th>{t("audit.what")}</th>
          <th>{t("audit.target")}</th>
          <th>{t("audit.detail")}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((e) => (
          <tr key={e.id}>
            <td class="num lx" title={exact(e.at)}>
              {ago(e.at)}
            </td>
            <td>
              <bdi>{e.actor}</bdi>
            </td>
            <td class="vx">
              <code>{e.action}</code>
            </td>
            <td class="cx">
              <code class="xs">{e.target}</code>
            </td>
            <td class="kx xs muted">
              <bdi>
                {Object.entries(e.detail)
                  .map(([k, v]) => `${k}: ${typeof v === "string" ? v : JSON.stringify(v)}`)
                  .join(", ")}
              </bdi>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
