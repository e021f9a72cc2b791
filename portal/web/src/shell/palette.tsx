// Keys of the keyboard, the list of them, and the palette of pages and commands.

import { useLayoutEffect, useState } from "preact/hooks";
import { singleKeys } from "../lib/choices";
import { chooseLanguage, language } from "../lib/language";
import type { Organisation } from "../lib/portal.gen";
import { go, org, page, place, to } from "../lib/router";
import { me, signOut } from "../lib/session";
import { Dialog } from "../ui/dialog";
import { Find } from "../ui/parts";
import { t } from "./words";
import { PAGES } from "./pages";

/** Keys that do something wherever the focus is, except inside a field. */
export function useShortcuts(open: (what: "palette" | "sheet") => void) {
  // Before anything that is drawn can be seen, and by when keys were pressed, not by when a busy page comes to them.
  useLayoutEffect(() => {
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
      if (e.timeStamp < going) {
        going = 0;
        const p = PAGES.find((p) => p.key === e.key);
        if (p) go(to(p.name));
        return e.preventDefault(); // or a and b would play takes, too
      }
      if (e.key === "g") going = e.timeStamp + 1500;
      else if (e.key === "?") open("sheet");
      else if (e.key === "c") document.querySelector<HTMLElement>("[data-create]:not(:disabled)")?.click();
      else if (e.key === "/") document.querySelector<HTMLElement>("[data-find]")?.focus();
      else if (e.key === "t" && page.value === "usage") nextRange();
      else if (e.key === "j" || e.key === "k") intoRows(e);
      else return;
      e.preventDefault();
    };
    document.addEventListener("keydown", key); // before the keys of a page, which listen at the window: g b is no b
    return () => document.removeEventListener("keydown", key);
  }, []);
}

/** Begins with the rows of the page; inside them they hear their keys themselves. */
function intoRows(e: KeyboardEvent) {
  const rows = document.querySelector<HTMLElement>("#main .rows");
  if (!rows || (e.target instanceof Node && rows.contains(e.target))) return;
  rows.focus();
  rows.dispatchEvent(new KeyboardEvent("keydown", { key: e.key, bubbles: true, cancelable: true }));
}

const RANGES = ["7d", "30d", "90d", "month"];

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

export function Palette({ onClose }: { onClose(): void }) {
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

export function Sheet({ onClose }: { onClose(): void }) {
  const rows: readonly (readonly [string, string])[] = [
    ["?", t("sheet")],
    ["Ctrl K", t("search")],
    ["g", t("goTo")],
    ...PAGES.map((p) => ["g " + p.key, t(p.name)] as const),
    ["c", t("createNew")],
    ["/", t("find")],
    ["t", t("range")],
    ["j k Enter", t("rows")],
    ["a b", t("compare")],
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
