// Parts that pages are made of.

import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { failed, type Answer, type Failure } from "../lib/api";
import { portal } from "../lib/session";
import { org, to } from "../lib/router";
import { copy, saveFile, say } from "./copy";
import { sentence } from "./errors";
import { focusHead } from "./focus";
import { Hanging, Icon, type IconName } from "./icons";
import type { Action, Loaded } from "./load";
import { t } from "./words";

interface HeadProps {
  title: string;
  lead?: string;
  of?: string; // the organisation's name, for the title of the window
  children?: ComponentChildren; // what can be done
}

/** The head of a page. It has the focus after navigation, so that it is read aloud. */
export function Head({ title, lead, of, children }: HeadProps) {
  useLayoutEffect(() => {
    document.title = [title, of, "Swar"].filter(Boolean).join(" · ");
  }, [title, of]);
  useLayoutEffect(() => focusHead(), []);
  return (
    <div class="head">
      <div>
        <h1 tabIndex={-1}>{title}</h1>
        {lead && <p class="sub">{lead}</p>}
      </div>
      {children && <div class="end row wrap controls">{children}</div>}
    </div>
  );
}

/** A skeleton, but not for what is there in a moment. */
export function Skeleton({ rows = 6 }: { rows?: number }) {
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 200);
    return () => clearTimeout(timer);
  }, []);
  const widths = ["w4", "w10", "w9", "w7", "w10", "w6"];
  return (
    <div class={late ? "sk late" : "sk"} role="status" aria-label={t("loading")}>
      {Array.from({ length: rows }, (_, i) => (
        <span class={"skl " + widths[i % widths.length]} />
      ))}
    </div>
  );
}

/** What to do where something failed; the other cards of a page stay. */
export function Failed({ failure, again }: { failure: Failure; again?(): unknown }) {
  return (
    <div class="err" role="alert" data-code={failure.code}>
      <span class="ei">
        <Icon name="warn" />
      </span>
      <div class="grow">
        <h3>{t("failed")}</h3>
        <p class="small muted">{sentence(failure)}</p>
        {failure.requestID && (
          <p class="xs muted row">
            <code>{failure.requestID}</code>
            <CopyButton text={failure.requestID} label={t("requestID")} />
          </p>
        )}
      </div>
      {again && (
        <button type="button" class="btn sm" onClick={() => void again()}>
          {t("again")}
        </button>
      )}
    </div>
  );
}

/** Shows what was loaded, or why not. */
export function Show<V>({ of, rows, children }: { of: Loaded<V>; rows?: number; children(v: V): ComponentChildren }) {
  if (of.value === undefined)
    return of.failure ? <Failed failure={of.failure} again={of.reload} /> : <Skeleton rows={rows} />;
  return (
    <>
      {of.failure && of.failure.code !== "unreached" && <Failed failure={of.failure} again={of.reload} />}
      {children(of.value)}
    </>
  );
}

export function Empty({ title, text, children }: { title: string; text?: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <Hanging />
      <p class="title">{title}</p>
      {text && <p class="muted small">{text}</p>}
      {children}
    </div>
  );
}

export function CopyButton({ text, label }: { text: string; label: string }) {
  return (
    <button type="button" class="btn ghost sm sq" aria-label={label} title={label} onClick={() => void copy(text)}>
      <Icon name="copy" />
    </button>
  );
}

export function Line({ text, label }: { text: string; label: string }) {
  return (
    <>
      <code class="line" tabIndex={0}>
        {text}
      </code>
      <button type="button" class="btn" onClick={() => void copy(text)}>
        <Icon name="copy" />
        {label}
      </button>
    </>
  );
}

export interface Choice<K extends string> {
  key: K;
  label: string;
  count?: number;
}

/** One of a few, all of which are seen. */
export function Seg<K extends string>({
  label,
  choices,
  value,
  onChoose,
  small,
}: {
  label: string;
  choices: readonly Choice<K>[];
  value: K;
  onChoose(k: K): void;
  small?: boolean;
}) {
  return (
    <div class={small ? "seg s2" : "seg"} role="group" aria-label={label}>
      {choices.map((c) => (
        <button type="button" aria-pressed={c.key === value} onClick={() => onChoose(c.key)}>
          {c.label}
          {c.count !== undefined && <span class="faint num">{c.count}</span>}
        </button>
      ))}
    </div>
  );
}

export function Select({
  label,
  value,
  choices,
  onChoose,
  disabled,
}: {
  label: string;
  value: string;
  choices: readonly (readonly [key: string, label: string])[];
  onChoose(v: string): void;
  disabled?: boolean;
}) {
  return (
    <label class="select">
      <span class="sr">{label}</span>
      <select class="in" value={value} disabled={disabled} onChange={(e) => onChoose(e.currentTarget.value)}>
        {choices.map(([k, l]) => (
          <option value={k} selected={k === value}>
            {l}
          </option>
        ))}
      </select>
    </label>
  );
}

export function Find({
  label,
  value,
  onInput,
  focus,
}: {
  label: string;
  value: string;
  onInput(v: string): void;
  focus?: boolean;
}) {
  return (
    <label class="find">
      <span class="sr">{label}</span>
      <Icon name="find" />
      <input
        class="in"
        type="search"
        placeholder={label}
        value={value}
        data-find
        data-focus={focus}
        onInput={(e) => onInput(e.currentTarget.value)}
      />
      <kbd class="hide-s" aria-hidden="true">
        /
      </kbd>
    </label>
  );
}

interface FieldProps {
  label: string;
  value: string;
  onInput(v: string): void;
  type?: string;
  hint?: string;
  max?: number;
  auto?: string;
  focus?: boolean;
}

export function Field({ label, value, onInput, type = "text", hint, max, auto = "off", focus }: FieldProps) {
  const input = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => void (focus && input.current?.focus()), []);
  return (
    <label class="field">
      <span>{label}</span>
      <input
        ref={input}
        class="in"
        type={type as "text"}
        value={value}
        maxLength={max}
        data-focus={focus}
        autocomplete={auto as "off"}
        onInput={(e) => onInput(e.currentTarget.value)}
      />
      {hint && <span class="xs muted">{hint}</span>}
    </label>
  );
}

/** A control that somebody may not use is there, off, with the reason beside it. */
export function Allowed({
  may,
  why,
  children,
}: {
  may: boolean;
  why: string;
  children(disabled: boolean): ComponentChildren;
}) {
  if (may) return <>{children(false)}</>;
  return (
    <span class="row wrap">
      {children(true)}
      <span class="small muted row why">
        <Icon name="lock" />
        {why}
      </span>
    </span>
  );
}

export function Wrong({ of }: { of: Action | undefined }) {
  if (!of?.failure) return null;
  return (
    <p class="wrong" role="alert" data-code={of.failure.code}>
      {sentence(of.failure)}
      {of.failure.requestID && of.failure.code === "internal_error" && <code class="xs"> {of.failure.requestID}</code>}
    </p>
  );
}

export function Go({
  of,
  label,
  disabled,
  danger,
  icon,
}: {
  of: Action;
  label: string;
  disabled?: boolean;
  danger?: boolean;
  icon?: IconName;
}) {
  return (
    <button type="submit" class={danger ? "btn bad" : "btn primary"} disabled={disabled || of.busy} aria-busy={of.busy}>
      {icon && <Icon name={icon} />}
      {label}
    </button>
  );
}

/** A table as a file: asked for with the token, which no link could carry. */
export function Csv({ path, name }: { path: string; name: string }) {
  const [failure, setFailure] = useState<Failure>();
  const load = async () => {
    const answer: Answer<Response> = await portal<Response>(path, { raw: true });
    setFailure(failed(answer) ? answer : undefined);
    if (failed(answer)) return;
    saveFile(await answer.blob(), name);
    say(t("downloaded", { name }));
  };
  return (
    <>
      <button type="button" class="btn" onClick={() => void load()}>
        <Icon name="load" />
        {t("csv")}
      </button>
      {failure && (
        <span class="wrong small" role="alert">
          {sentence(failure)}
        </span>
      )}
    </>
  );
}

export function NotFound() {
  return (
    <>
      <Head title={t("unknown")} />
      <section class="card">
        <Empty title={t("unknown")} text={t("unknownLead")}>
          {org.value && (
            <a class="btn primary" href={to("playground")}>
              {t("toPlayground")}
            </a>
          )}
        </Empty>
      </section>
    </>
  );
}
