// Voices that the organisation asks for.

import { useState } from "preact/hooks";
import { query } from "../lib/api";
import { day, exact, number } from "../lib/format";
import { here, isOwner, mayWrite } from "../lib/here";
import type { VoiceRequest, VoiceRequests } from "../lib/portal.gen";
import { org } from "../lib/router";
import { create, me, portal, remove } from "../lib/session";
import { say } from "../ui/copy";
import { FormDialog } from "../ui/dialog";
import { Icon } from "../ui/icons";
import { useAction, useLoad } from "../ui/load";
import { Allowed, Empty, Field, Head, Show } from "../ui/parts";
import { t as shared } from "../ui/words";
import { t } from "./words";

const OVER = new Set(["ready", "declined", "withdrawn"]);

export function VoicesPage() {
  const list = useLoad<VoiceRequests>(() => portal("/voice-requests" + query({ org_id: org.value })), [org.value]);
  const [asking, setAsking] = useState(false);
  const [leaving, setLeaving] = useState<VoiceRequest>();
  const close = () => {
    setAsking(false);
    setLeaving(undefined);
    void list.reload();
  };
  const may = (r: VoiceRequest) =>
    !OVER.has(r.status) && (isOwner.value || (mayWrite.value && r.created_by === me.value?.user.email));
  return (
    <>
      <Head title={t("voices")} lead={t("voices.lead")} of={here.value?.name}>
        <Allowed may={mayWrite.value} why={shared("viewersRead")}>
          {(off) => (
            <button type="button" class="btn primary" data-create disabled={off} onClick={() => setAsking(true)}>
              <Icon name="plus" />
              {t("voices.ask")}
            </button>
          )}
        </Allowed>
      </Head>
      <Show of={list}>
        {({ voice_requests: all }) =>
          all.length === 0 ? (
            <section class="card">
              <Empty title={t("voices.empty")} text={t("voices.emptyText")} />
            </section>
          ) : (
            <div class="stack">
              {all.map((r) => (
                <One r={r} leave={may(r) ? () => setLeaving(r) : undefined} />
              ))}
            </div>
          )
        }
      </Show>
      {asking && <Ask onClose={close} />}
      {leaving && <Withdraw r={leaving} onClose={close} />}
    </>
  );
}

function One({ r, leave }: { r: VoiceRequest; leave: (() => void) | undefined }) {
  return (
    <section class="card" data-voice-request={r.id}>
      <header>
        <h2>
          <bdi>{r.voice_name}</bdi>
        </h2>
        <span class="chip">{r.language}</span>
        <span class={r.status === "ready" ? "chip ok" : OVER.has(r.status) ? "chip" : "chip acc"}>
          {t(`voices.${r.status}`)}
        </span>
        {leave && (
          <button type="button" class="btn ghost sm end" onClick={leave}>
            {t("voices.withdraw")}
          </button>
        )}
      </header>
      <div class="pad">
        <p class="pre">
          <bdi>{r.use_case}</bdi>
        </p>
        {r.notes && (
          <p class="pre small muted">
            <bdi>{r.notes}</bdi>
          </p>
        )}
        {r.hours !== undefined && <p class="small muted">{t("voices.hoursOf", { n: number(r.hours, 1) })}</p>}
        <ol class="moves small">
          {r.moves.map((m) => (
            <li title={exact(m.at)}>
              <b>{t(`voices.${m.to}`)}</b>{" "}
              <span class="muted">
                {day(m.at)} · {m.by}
              </span>
            </li>
          ))}
        </ol>
        <p class="xs muted">{t("voices.by", { who: r.created_by, day: day(r.created_at) })}</p>
      </div>
    </section>
  );
}

function Ask({ onClose }: { onClose(): void }) {
  const [name, setName] = useState("");
  const [language, setLanguage] = useState("Hinglish");
  const [use, setUse] = useState("");
  const [hours, setHours] = useState("");
  const [notes, setNotes] = useState("");
  const action = useAction<VoiceRequest>(
    (key) =>
      create(
        "/voice-requests",
        {
          org_id: org.value,
          voice_name: name.trim(),
          language: language.trim(),
          use_case: use.trim(),
          ...(hours.trim() ? { hours: Number(hours) } : {}),
          ...(notes.trim() ? { notes: notes.trim() } : {}),
        },
        key,
      ),
    () => {
      say(t("voices.sent"));
      onClose();
    },
  );
  const ready = name.trim() !== "" && language.trim() !== "" && use.trim() !== "";
  return (
    <FormDialog
      title={t("voices.ask")}
      lead={t("voices.emptyText")}
      action={action}
      label={t("voices.ask")}
      ready={ready}
      onClose={onClose}
    >
      <Field label={t("voices.name")} value={name} onInput={setName} max={80} focus />
      <Field label={t("voices.language")} value={language} onInput={setLanguage} max={35} />
      <label class="field">
        <span>{t("voices.use")}</span>
        <textarea class="in" rows={4} maxLength={2000} value={use} onInput={(e) => setUse(e.currentTarget.value)} />
      </label>
      <Field label={t("voices.hours")} type="number" value={hours} onInput={setHours} />
      <label class="field">
        <span>{t("voices.notes")}</span>
        <textarea class="in" rows={3} maxLength={4000} value={notes} onInput={(e) => setNotes(e.currentTarget.value)} />
      </label>
    </FormDialog>
  );
}

function Withdraw({ r, onClose }: { r: VoiceRequest; onClose(): void }) {
  const action = useAction<VoiceRequest>(() => remove(`/voice-requests/${r.id}`), onClose);
  return (
    <FormDialog
      title={t("voices.withdraw")}
      lead={t("voices.withdrawLead")}
      action={action}
      label={t("voices.withdraw")}
      danger
      onClose={onClose}
    >
      <p>
        <b>
          <bdi>{r.voice_name}</bdi>
        </b>
      </p>
    </FormDialog>
  );
}
