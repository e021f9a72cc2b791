// The inspector: what went over the socket and when.

import type { ReadonlySignal } from "@preact/signals";
import { useState } from "preact/hooks";
import type { Row } from "./speaking";

interface Props {
  rows: ReadonlySignal<readonly Row[]>;
  t(key: string, values?: Record<string, string | number>): string;
}

/** Rows as JSON, one a line. */
export function jsonLines(rows: readonly Row[]): string {
  return rows
    .map((r) =>
      JSON.stringify({
        ms: Number(r.at.toFixed(1)),
        to: r.out ? "server" : "page",
        type: r.type,
        ...(r.count > 1 && { messages: r.count }),
        ...r.fields,
      }),
    )
    .join("\n");
}

export function Events({ rows: all, t }: Props) {
  const rows = all.value;
  const [open, setOpen] = useState(-1);
  if (rows.length === 0) return <p class="play-empty">{t("play.events.empty")}</p>;
  return (
    <div class="play-events">
      <div class="play-scroll" tabIndex={0} role="region" aria-label={t("play.events")}>
        <table>
          <thead>
            <tr>
              <th scope="col">{t("play.events.time")}</th>
              <th scope="col">{t("play.events.event")}</th>
              <th scope="col">{t("play.events.fields")}</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((r, i) => (
              <tr key={i} class={r.type === "audio" ? "audio" : r.out ? "out" : ""}>
                <td class="num">{r.at.toFixed(1)}</td>
                <td>
                  <button
                    type="button"
                    class="plain"
                    aria-expanded={open === i}
                    onClick={() => setOpen(open === i ? -1 : i)}
                  >
                    {r.out ? "→ " : ""}
                    {r.type}
                    {r.count > 1 ? ` × ${r.count}` : ""}
                  </button>
                </td>
                <td>{open === i ? <pre>{JSON.stringify(r.fields, null, 1)}</pre> : summary(r.fields)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

function summary(fields: Record<string, unknown>): string {
  const all = Object.entries(fields)
    .map(([k, v]) => `${k} ${typeof v === "string" ? v : JSON.stringify(v)}`)
    .join(" · ");
  return all.length > 160 ? all.slice(0, 160) + "…" : all;
}
