// What is around the pages of an organisation: navigation, the account, keys and the palette.

import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { away, type Failure } from "./lib/api";
import { singleKeys } from "./lib/choices";
import { here, mayWrite, voiceNames } from "./lib/here";
import { chooseLanguage, language } from "./lib/language";
import type { Organisation } from "./lib/portal.gen";
import { go, org, page, place, to } from "./lib/router";
import { create, idToken, leftMs, me, meet, mint, signOut } from "./lib/session";
import { PlaygroundKey } from "./play/key";
import { Playing } from "./playing";
import { copy, toast } from "./ui/copy";
import { Dialog, Form } from "./ui/dialog";
import { Icon, Logo, type IconName } from "./ui/icons";
import { useAction, useEvery, useLoad } from "./ui/load";
import { Menu } from "./ui/menu";
import { Failed, Field, Find, Go, Head, NotFound, Skeleton, Wrong } from "./ui/parts";
import { t as shared } from "./ui/words";
import { health } from "./lib/health";
import { t } from "./shellwords";

type Name =
  "playground" | "overview" | "keys" | "requests" | "usage" | "members" | "billing" | "voices" | "audit" | "settings";

interface PageOf {
  name: Name;
  icon: IconName;
  key: string; // after g
  of?: Exclude<keyof Pages, "default">; // what shows it; the playground is there already
}

type Pages = typeof import("./pages/all");

const PAGES: readonly PageOf[] = [
  { name: "playground", icon: "play", key: "p" },
  { name: "overview", icon: "home", key: "o", of: "OverviewPage" },
  { name: "keys", icon: "key", key: "k", of: "KeysPage" },
  { name: "requests", icon: "list", key: "r", of: "RequestsPage" },
  { name: "usage", icon: "bars", key: "u", of: "UsagePage" },
  { name: "members", icon: "people", key: "m", of: "MembersPage" },
  { name: "billing", icon: "bill", key: "b", of: "BillingPage" },
  { name: "voices", icon: "voice", key: "v", of: "VoicesPage" },
  { name: "audit", icon: "shield", key: "a", of: "AuditPage" },
  { name: "settings", icon: "gear", key: "s", of: "SettingsPage" },
];

/** The playground with the key of the organisation's first project. Viewers get none. */
function Seated() {
  const project = here.value?.projects[0]?.id ?? "";
  const key = useMemo(
    () => (mayWrite.value ? new PlaygroundKey(project, () => mint(project)) : { get: () => Promise.resolve("") }),
    [project, mayWrite.value],
  );
  useEffect(() => void (mayWrite.value && key.get(false).catch(() => undefined)), [key]); // minting takes a while: not when Play is pressed
  return <Playing key={project} key_={key} voices={voiceNames.value} mayPlay={mayWrite.value} of={here.value?.name} />;
}

let pages: Pages | undefined;

/** The other pages are loaded when one of them is opened first. */
function Page({ of }: { of: PageOf }) {
  const [, ready] = useState(0);
  const [failure, setFailure] = useState<Failure>();
  const load = () => {
    setFailure(undefined);
    void import("./pages/all").then(
      (p) => {
        pages = p;
        ready((n) => n + 1);
      },
      () => setFailure({ failed: true, code: "unreached", text: "", requestID: "" }),
    );
  };
  useEffect(() => void (of.of && !pages && load()), [of.of]);
  useEffect(() => void (!away.value && failure && load()), [away.value]);
  if (!of.of) return <Seated />;
  const One = pages?.[of.of];
  if (One) return <One key={org.value} />;
  return <section class="card">{failure ? <Failed failure={failure} again={load} /> : <Skeleton rows={8} />}</section>;
}

export function Shell() {
  const known = here.value ? PAGES.find((p) => p.name === page.value) : undefined;
  const [open, setOpen] = useState<"palette" | "sheet" | "more" | "org" | undefined>();
  useShortcuts(setOpen);
  useEffect(() => {
    if (here.value && page.value === "") go(to("playground"), true);
  }, [page.value, here.value]);
  return (
    <>
      <a class="skip" href="#main">
        {t("skip")}
      </a>
      <div class="app">
        <Side />
        <div class="body">
          <MobileTop open={setOpen} />
          <Away />
          <main id="main" tabIndex={-1}>
            <div class="page">
              {known ? <Page of={known} /> : page.value === "" && here.value ? null : <NotFound />}
            </div>
          </main>
          <MobileNav more={() => setOpen("more")} />
        </div>
      </div>
      <p class={toast.value ? "toast on" : "toast"} role="status">
        {toast.value}
      </p>
      {open === "palette" && <Palette onClose={() => setOpen(undefined)} />}
      {open === "sheet" && <Sheet onClose={() => setOpen(undefined)} />}
      {open === "org" && <NewOrg onClose={() => setOpen(undefined)} />}
      {open === "more" && <More onClose={() => setOpen(undefined)} newOrg={() => setOpen("org")} />}
    </>
  );
}

function Link({ p, label }: { p: PageOf; label?: string }) {
  return (
    <a href={to(p.name)} aria-current={page.value === p.name ? "page" : undefined}>
      <Icon name={p.icon} />
      {label ?? t(p.name)}
    </a>
  );
}

function Side() {
  const [naming, setNaming] = useState(false);
  const [first, build, organisation] = [PAGES.slice(0, 2), PAGES.slice(2, 5), PAGES.slice(5)];
  return (
    <aside class="side">
      <a class="brand" href="/">
        <Logo />
        Swar{" "}
        <span class="faint" lang="hi">
          स्वर
        </span>
      </a>
      <OrgMenu newOrg={() => setNaming(true)} />
      <nav class="main" aria-label={t("main")}>
        {first.map((p) => (
          <Link p={p} />
        ))}
        <p>{t("build")}</p>
        {build.map((p) => (
          <Link p={p} />
        ))}
        <p>{t("organisation")}</p>
        {organisation.map((p) => (
          <Link p={p} />
        ))}
      </nav>
      <div class="foot">
        <a class="row muted" href="/docs/">
          <Icon name="book" />
          {t("docs")}
        </a>
        <Workers />
        <div class="me">
          <Account up />
        </div>
      </div>
      {naming && <NewOrg onClose={() => setNaming(false)} />}
    </aside>
  );
}

const initials = (name: string) =>
  [...name.trim().split(/\s+/)]
    .slice(0, 2)
    .map((w) => [...w][0] ?? "")
    .join("")
    .toUpperCase();

function OrgMenu({ newOrg }: { newOrg(): void }) {
  const o = here.value;
  return (
    <Menu
      named
      class="org"
      label={t("switchOrg")}
      button={
        <>
          <span class="av" aria-hidden="true">
            {initials(o?.name ?? "?")}
          </span>
          <span class="grow cut">
            <b>
              <bdi>{o?.name ?? shared("unknown")}</bdi>
            </b>
            <br />
            <span class="xs muted">
              <bdi>{o?.projects[0]?.name}</bdi>
            </span>
          </span>
          <Icon name="down" />
        </>
      }
    >
      {(close) => (
        <>
          {me.value?.orgs.map((other) => (
            <a href={to(page.value || "playground", other.id)} aria-current={other.id === org.value} onClick={close}>
              <bdi>{other.name}</bdi>
              <span class="xs muted">{shared(other.role)}</span>
            </a>
          ))}
          <button
            type="button"
            onClick={() => {
              close();
              newOrg();
            }}
          >
            <Icon name="plus" />
            {t("newOrg")}
          </button>
        </>
      )}
    </Menu>
  );
}

function Workers() {
  const h = useLoad(health, []);
  useEvery(10_000, () => void h.reload());
  const free = h.value ? h.value.workers_ready - h.value.workers_busy : 0;
  return (
    <div class="row muted workers">
      <span class={h.value && free > 0 ? "dot on" : "dot off"} />
      {h.value ? t("free", { free, all: h.value.workers }) : t("freeUnknown")}
    </div>
  );
}

function Account({ up }: { up?: boolean }) {
  const email = me.value?.user.email ?? "";
  const other = language.value === "en" ? "hi" : "en";
  const [left, setLeft] = useState(leftMs);
  return (
    <>
      <span class="grow cut-menu" onPointerEnter={() => setLeft(leftMs())}>
        <Menu
          named
          class="account"
          label={t("account")}
          {...(up ? { up } : {})}
          button={
            <>
              <span class="av round" aria-hidden="true">
                {initials(email).slice(0, 1)}
              </span>
              <span class="grow small cut hide-s">{email}</span>
            </>
          }
        >
          {(close) => (
            <>
              <p class="small cut">{email}</p>
              <button
                type="button"
                data-copy-token
                onClick={() => {
                  close();
                  void copy(idToken());
                }}
              >
                <Icon name="copy" />
                {t("copyToken", { min: Math.floor((left || leftMs()) / 60_000) })}
              </button>
              <a href={to("settings")} onClick={close}>
                <Icon name="gear" />
                {t("settings")}
              </a>
              <button
                type="button"
                data-sign-out
                onClick={() => {
                  close();
                  void signOut();
                }}
              >
                {t("signOut")}
              </button>
            </>
          )}
        </Menu>
      </span>
      <button type="button" class="btn ghost sm" lang={other} onClick={() => chooseLanguage(other)}>
        {other === "hi" ? "हि" : "En"}
        <span class="sr">, {t("langOther")}</span>
      </button>
    </>
  );
}

function MobileTop({ open }: { open(what: "palette"): void }) {
  const [naming, setNaming] = useState(false);
  return (
    <header class="mobile-top">
      <a class="brand" href="/" aria-label="Swar">
        <Logo />
      </a>
      <OrgMenu newOrg={() => setNaming(true)} />
      <span class="end row">
        <button type="button" class="btn ghost sq" aria-label={t("search")} onClick={() => open("palette")}>
          <Icon name="find" />
        </button>
        <Account />
      </span>
      {naming && <NewOrg onClose={() => setNaming(false)} />}
    </header>
  );
}

function MobileNav({ more }: { more(): void }) {
  const tabs = ["playground", "keys", "usage", "requests"] as const;
  return (
    <nav class="mobile-nav" aria-label={t("main")}>
      {tabs.map((name) => (
        <Link p={PAGES.find((p) => p.name === name)!} label={name === "keys" ? t("keysShort") : t(name)} />
      ))}
      <button type="button" onClick={more}>
        <Icon name="menu" />
        {t("more")}
      </button>
    </nav>
  );
}

function More({ onClose, newOrg }: { onClose(): void; newOrg(): void }) {
  return (
    <Dialog title={t("more")} onClose={onClose}>
      <nav
        class="main more"
        aria-label={t("more")}
        onClick={(e) => e.target instanceof Element && e.target.closest("a") && onClose()}
      >
        {PAGES.map((p) => (
          <Link p={p} />
        ))}
        <a href="/docs/">
          <Icon name="book" />
          {t("docs")}
        </a>
      </nav>
      <div class="row wrap">
        <button type="button" class="btn" onClick={newOrg}>
          <Icon name="plus" />
          {t("newOrg")}
        </button>
      </div>
    </Dialog>
  );
}

function Away() {
  if (!away.value) return null;
  return (
    <p class="ban" role="status" data-away>
      <span class="dot" />
      {t("away")}
    </p>
  );
}

const RANGES = ["7d", "30d", "90d", "month"];

/** Keys that do something wherever the focus is, except inside a field. */
function useShortcuts(open: (what: "palette" | "sheet") => void) {
  useEffect(() => {
    let going = 0; // until when a letter after g leads to a page
    const key = (e: KeyboardEvent) => {
      if (e.isComposing || e.defaultPrevented) return;
      if (e.key.toLowerCase() === "k" && (e.ctrlKey || e.metaKey)) {
        e.preventDefault();
        return open("palette");
      }
      const typing = e.target instanceof Element && e.target.closest("input, textarea, select, [contenteditable]");
      if (typing || e.ctrlKey || e.metaKey || e.altKey || !singleKeys.value || document.querySelector("dialog[open]"))
        return;
      if (Date.now() < going) {
        going = 0;
        const p = PAGES.find((p) => p.key === e.key);
        if (p) go(to(p.name));
        return;
      }
      if (e.key === "g") going = Date.now() + 1500;
      else if (e.key === "?") open("sheet");
      else if (e.key === "c") document.querySelector<HTMLElement>("[data-create]:not(:disabled)")?.click();
      else if (e.key === "/") document.querySelector<HTMLElement>("[data-find]")?.focus();
      else if (e.key === "t" && page.value === "usage") nextRange();
      else return;
      e.preventDefault();
    };
    addEventListener("keydown", key);
    return () => removeEventListener("keydown", key);
  }, []);
}

function nextRange() {
  const at = RANGES.indexOf(place.value.query.get("range") ?? "30d");
  const q = new URLSearchParams(place.value.query);
  q.set("range", RANGES[(at + 1) % RANGES.length]!);
  go(place.value.path + "?" + q, true);
}

interface Command {
  name: string;
  hint?: string;
  act(): void;
}

function Palette({ onClose }: { onClose(): void }) {
  const [find, setFind] = useState("");
  const [at, setAt] = useState(0);
  const all: Command[] = [
    ...PAGES.map((p) => ({ name: t(p.name), hint: "g " + p.key, act: () => go(to(p.name)) })),
    { name: `${t("createNew")}: ${t("keys")}`, act: () => go(to("keys") + "?new=1") },
    ...(me.value?.orgs ?? [])
      .filter((o) => o.id !== org.value)
      .map((o: Organisation) => ({
        name: o.name,
        hint: t("organisation"),
        act: () => go(to(page.value || "playground", o.id)),
      })),
    { name: t("docs"), act: () => location.assign("/docs/") },
    { name: t("langOther"), act: () => chooseLanguage(language.value === "en" ? "hi" : "en") },
    { name: t("signOut"), act: () => void signOut() },
  ];
  const word = find.trim().toLowerCase();
  const fitting = all.filter((c) => c.name.toLowerCase().includes(word));
  if (/^[\w-]{6,}$/.test(find.trim()) && fitting.length === 0)
    fitting.push({
      name: t("openRequest", { id: find.trim() }),
      act: () => go(`${to("requests")}?id=${encodeURIComponent(find.trim())}`),
    });
  const run = (c: Command | undefined) => {
    if (!c) return;
    onClose();
    c.act();
  };
  const key = (e: KeyboardEvent) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[e.key];
    if (e.key === "Enter") run(fitting[at]);
    else if (by) setAt((at + by + fitting.length) % Math.max(1, fitting.length));
    else return;
    e.preventDefault();
  };
  return (
    <Dialog title={t("search")} onClose={onClose}>
      <div class="palette" onKeyDown={key}>
        <Find
          label={t("palette")}
          focus
          value={find}
          onInput={(v) => {
            setFind(v);
            setAt(0);
          }}
        />
        <ul>
          {fitting.map((c, i) => (
            <li>
              <button type="button" class={i === at ? "at" : ""} onClick={() => run(c)}>
                <bdi class="grow">{c.name}</bdi>
                {c.hint && <kbd>{c.hint}</kbd>}
              </button>
            </li>
          ))}
        </ul>
        {fitting.length === 0 && <p class="small muted">{t("none")}</p>}
      </div>
    </Dialog>
  );
}

function Sheet({ onClose }: { onClose(): void }) {
  const rows: readonly (readonly [string, string])[] = [
    ["?", t("sheet")],
    ["Ctrl K", t("search")],
    ["g", t("goTo")],
    ...PAGES.map((p) => ["g " + p.key, t(p.name)] as const),
    ["c", t("createNew")],
    ["/", t("find")],
    ["t", t("range")],
    ["j k Enter", t("rows")],
    ["Ctrl Enter", t("play")],
    ["Esc", t("close")],
  ];
  return (
    <Dialog title={t("shortcuts")} lead={t("off")} onClose={onClose}>
      <dl class="facts small">
        {rows.map(([k, what]) => (
          <div>
            <dt>
              {k.split(" ").map((one) => (
                <kbd>{one}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}

function OrgForm({ done }: { done?: () => void }) {
  const [name, setName] = useState("");
  const action = useAction<Organisation>(
    (key) => create("/orgs", { name: name.trim() }, key),
    (made) => {
      void meet().then(() => {
        go(to("playground", made.id));
        done?.();
      });
    },
  );
  return (
    <Form onSend={() => name.trim() && action.go()}>
      <Field label={t("orgName")} value={name} onInput={setName} max={80} focus auto="organization" />
      <Wrong of={action} />
      <div class="row">
        <span class="end">
          <Go of={action} label={t("create")} disabled={!name.trim()} />
        </span>
      </div>
    </Form>
  );
}

function NewOrg({ onClose }: { onClose(): void }) {
  return (
    <Dialog title={t("newOrg")} lead={t("firstLead")} onClose={onClose}>
      <OrgForm done={onClose} />
    </Dialog>
  );
}

/** For who has signed in and is in no organisation. */
export function FirstRun() {
  return (
    <Bare>
      <main id="main" class="page alone">
        <div class="card pad narrow">
          <h1>{t("first")}</h1>
          <p class="muted small">{t("firstLead")}</p>
          <OrgForm />
        </div>
      </main>
    </Bare>
  );
}

function Bare({ children }: { children: ComponentChildren }) {
  const other = language.value === "en" ? "hi" : "en";
  return (
    <>
      <header class="top">
        <a class="brand" href="/">
          <Logo />
          Swar{" "}
          <span class="faint" lang="hi">
            स्वर
          </span>
        </a>
        <span class="end row">
          <a class="small" href="/docs/">
            {t("docs")}
          </a>
          {me.value && (
            <button type="button" class="btn ghost sm" onClick={() => void signOut()}>
              {t("signOut")}
            </button>
          )}
          <button type="button" class="btn sm" lang={other} onClick={() => chooseLanguage(other)}>
            {other === "hi" ? "हिन्दी" : "English"}
          </button>
        </span>
      </header>
      <Away />
      {children}
      <p class={toast.value ? "toast on" : "toast"} role="status">
        {toast.value}
      </p>
    </>
  );
}

/** The playground without a portal around it. */
export function Alone({ key_, voices }: { key_: string; voices: readonly string[] }) {
  const key = useMemo(() => ({ get: () => Promise.resolve(key_) }), [key_]);
  return (
    <Bare>
      <main id="main" class="page">
        <Playing key_={key} voices={voices} mayPlay />
      </main>
    </Bare>
  );
}

export function AskKey({ wrong, tryKey }: { wrong: boolean; tryKey(key: string): Promise<void> }) {
  const [value, setValue] = useState("");
  return (
    <Bare>
      <main id="main" class="page alone">
        <div class="card pad narrow">
          <Head title={t("key")} lead={t("keyWhy")} />
          <Form onSend={() => value.trim() && tryKey(value.trim())}>
            <Field label={t("keyLabel")} type="password" value={value} onInput={setValue} focus />
            {wrong && (
              <p class="wrong" role="alert" data-code="invalid_key">
                {t("keyWrong")}
              </p>
            )}
            <div class="row wrap">
              <button type="submit" class="btn primary" disabled={!value.trim()}>
                {t("useKey")}
              </button>
            </div>
          </Form>
          <p class="small muted">
            {t("keyMake")} <code>swar keys create NAME</code>
          </p>
        </div>
      </main>
    </Bare>
  );
}
