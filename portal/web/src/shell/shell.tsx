// What is around the pages of an organisation: navigation and the account.

import { signal } from "@preact/signals";
import { useEffect, useMemo, useState } from "preact/hooks";
import { away, isThere, query, unreached, type Failure } from "../lib/api";
import { here, mayWrite, projectName, voiceNames } from "../lib/here";
import { chooseLanguage, language } from "../lib/language";
import { go, org, page, place, to } from "../lib/router";
import { idToken, leftMs, me, mint, signOut } from "../lib/session";
import { PlaygroundKey } from "../play/key";
import { Playing } from "../playing";
import { copy } from "../ui/copy";
import { Dialog } from "../ui/dialog";
import { Icon, Logo } from "../ui/icons";
import { useEvery, useLoad } from "../ui/load";
import { Menu } from "../ui/menu";
import { Failed, NotFound, Skeleton } from "../ui/parts";
import { Projects } from "../ui/projects";
import { Toast } from "../ui/toast";
import { t as shared } from "../ui/words";
import { health } from "../lib/health";
import { t } from "./words";
import { PAGES, type PageOf, type Pages } from "./pages";
import { Palette, Sheet, useShortcuts } from "./palette";
import { NewOrg } from "./org";

/** What is open over the pages. */
const opened = signal<"palette" | "sheet" | "more" | "org" | undefined>(undefined);
const open = (what: typeof opened.value) => (opened.value = what);
const shut = () => (opened.value = undefined);

// One for each project: what was spoken with it is found again when the playground is.
const keys = new Map<string, PlaygroundKey>();

function keyOf(project: string): PlaygroundKey {
  const key = keys.get(project) ?? new PlaygroundKey(project, () => mint(project));
  keys.set(project, key);
  return key;
}

/** The playground with the key of the organisation's first project. Viewers get none. */
function Seated() {
  const all = here.value?.projects ?? [];
  const project = (all.find((p) => p.id === place.value.query.get("project")) ?? all[0])?.id ?? "";
  const key = useMemo(
    () => (mayWrite.value ? keyOf(project) : { get: () => Promise.resolve("") }),
    [project, mayWrite.value],
  );
  useEffect(() => void (mayWrite.value && key.get(false).catch(() => undefined)), [key]); // minting takes a while: not when Play is pressed
  return (
    <Playing
      key={project + mayWrite.value}
      key_={key}
      voices={voiceNames.value}
      mayPlay={mayWrite.value}
      of={here.value?.name}
      shortcuts={() => open("sheet")}
      project={all.length > 1 && <Projects value={project} />}
    />
  );
}

let pages: Pages | undefined;

const RENEWED = "swar.renewed"; // sessionStorage: when the document was loaded again, so that it is not for ever

/** Loads the document again: a server that was replaced has files of other names. Answers false where that was just done. */
function renew(): boolean {
  if (Date.now() - Number(sessionStorage.getItem(RENEWED)) < 60_000) return false;
  sessionStorage.setItem(RENEWED, String(Date.now()));
  location.reload();
  return true;
}

/** The other pages are loaded when one of them is opened first. */
function Page({ of }: { of: PageOf }) {
  const [, ready] = useState(0);
  const [failure, setFailure] = useState<Failure>();
  const load = async () => {
    setFailure(undefined);
    try {
      pages = await import("../pages/all");
      ready((n) => n + 1);
    } catch {
      if (!(await isThere())) setFailure(unreached());
      else if (!renew()) setFailure({ failed: true, code: "unreached", text: "", requestID: "" });
    }
  };
  useEffect(() => {
    if (of.of && !pages) void load();
  }, [of.of]);
  useEffect(() => {
    if (!away.value && failure) void load();
  }, [away.value]);
  if (!of.of) return <Seated />;
  const One = pages?.[of.of];
  if (One) return <One key={org.value} />;
  return <section class="card">{failure ? <Failed failure={failure} again={load} /> : <Skeleton rows={8} />}</section>;
}

export function Shell() {
  const known = here.value ? PAGES.find((p) => p.name === page.value) : undefined;
  useShortcuts(open);
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
          <MobileTop open={open} />
          <Away />
          <main id="main" tabIndex={-1}>
            <div class="page">
              {known ? <Page of={known} /> : page.value === "" && here.value ? null : <NotFound />}
            </div>
          </main>
          <MobileNav more={() => open("more")} />
        </div>
      </div>
      <Toast />
      {opened.value === "palette" && <Palette onClose={shut} />}
      {opened.value === "sheet" && <Sheet onClose={shut} />}
      {opened.value === "org" && <NewOrg onClose={shut} />}
      {opened.value === "more" && <More onClose={shut} newOrg={() => open("org")} />}
    </>
  );
}

/** The project that pages are narrowed to goes with whoever looks at the next one. */
function ofProject() {
  return query({ project: place.value.query.get("project") ?? "" });
}

/** The name of that project, or of the only one. */
function projectHere(): string {
  const all = here.value?.projects ?? [];
  return (
    projectName(place.value.query.get("project") ?? "") || (all.length === 1 ? all[0]!.name : shared("allProjects"))
  );
}

function Link({ p, label }: { p: PageOf; label?: string }) {
  return (
    <a href={to(p.name) + ofProject()} aria-current={page.value === p.name ? "page" : undefined}>
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
              <bdi>{projectHere()}</bdi>
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
  const h = useLoad(health, [], page.value === "playground" ? 5000 : 0); // there the first sound comes first
  useEvery(10_000, () => void h.reload());
  const known = away.value ? undefined : h.value; // what it was before the server went away
  const free = known ? known.workers_ready - known.workers_busy : 0;
  return (
    <div class="row muted workers">
      <span class={free > 0 ? "dot on" : "dot off"} />
      {known ? t("free", { free, all: known.workers }) : h.failure || away.value ? t("freeUnknown") : "…"}
    </div>
  );
}

function Account({ up }: { up?: boolean }) {
  const email = me.value?.user.email ?? "";
  const other = language.value === "en" ? "hi" : "en";
  return (
    <>
      <span class="grow cut-menu">
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
                {t("copyToken", { min: Math.floor(leftMs() / 60_000) })}
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

export function Away() {
  if (!away.value) return null;
  return (
    <p class="ban" role="status" data-away>
      <span class="dot" />
      {t("away")}
    </p>
  );
}
