// What pages of the documentation can do more where scripts run: be searched, and have their examples copied.
import { find, type Hit, type Index } from "./find";

let index: Promise<Index> | undefined;

const load = () =>
  (index ??= fetch("/docs/search.json").then((r) => (r.ok ? r.json() : Promise.reject(new Error(String(r.status))))));

function element<K extends keyof HTMLElementTagNameMap>(name: K, ...children: (string | Node)[]) {
  const made = document.createElement(name);
  made.append(...children);
  return made;
}

function rowOf(hit: Hit) {
  const link = element("a", element("b", hit.title));
  link.href = hit.address;
  if (hit.below) link.append(element("span", hit.below));
  const words = hit.sentence.map((part, i) => (i % 2 ? element("mark", part) : part));
  if (hit.sentence.some(Boolean)) link.append(element("small", ...words));
  return element("li", link);
}

function search(box: HTMLElement) {
  const field = box.querySelector("input")!,
    list = box.querySelector("ul")!,
    status = box.querySelector("[role=status]")!;
  box.classList.remove("off"); // its place was kept, so that nothing moves
  field.addEventListener("focus", () => void load().catch(() => (index = undefined)), { once: true });
  field.addEventListener("input", async () => {
    const asked = field.value;
    let hits: Hit[];
    try {
      hits = find(await load(), asked);
    } catch {
      index = undefined;
      status.textContent = "Search is unavailable. Try again.";
      return;
    }
    if (asked !== field.value) return;
    const rows = hits.map(rowOf);
    if (hits.length === 0) rows.push(element("li", element("p", `No results for “${asked.trim()}”.`)));
    list.replaceChildren(...rows);
    list.hidden = !asked.trim();
    status.textContent = asked.trim() ? hits.length + " found" : "";
  });
  box.addEventListener("keydown", (e) => {
    const stops = [field, ...list.querySelectorAll("a")] as HTMLElement[],
      at = stops.indexOf(document.activeElement as HTMLElement);
    if (e.key === "ArrowDown") stops[Math.min(at + 1, stops.length - 1)]!.focus();
    else if (e.key === "ArrowUp") stops[Math.max(at - 1, 0)]!.focus();
    else if (e.key === "Enter" && at === 0) list.querySelector("a")?.click();
    else if (e.key === "Escape") {
      field.value = "";
      list.hidden = true;
      field.blur();
    } else return;
    e.preventDefault();
  });
  box.addEventListener("focusout", (e) => {
    if (!box.contains(e.relatedTarget as Node | null)) list.hidden = true;
  });
  addEventListener("keydown", (e) => {
    const typing = e.target instanceof HTMLInputElement;
    if (e.key !== "/" || typing || e.ctrlKey || e.metaKey || e.altKey || localStorage.getItem("swar.keys") === "off")
      return;
    e.preventDefault();
    field.focus();
  });
}

/** Pages without TLS have no clipboard: there the example is selected, for Ctrl+C. */
async function copy(code: HTMLElement, button: HTMLButtonElement) {
  let said = "Copied";
  try {
    await navigator.clipboard.writeText(code.textContent ?? "");
  } catch {
    getSelection()?.selectAllChildren(code);
    said = "Press Ctrl+C";
  }
  button.textContent = said;
  setTimeout(() => (button.textContent = "Copy"), 2000);
}

/** Has examples call the server that shows them, under the address by which it was found; in a fleet speech has one of its own. */
function fillIn(example: HTMLElement) {
  const ofPortal = location.pathname === "/docs/portal";
  const origin = (!ofPortal && document.documentElement.dataset.api) || location.origin;
  const texts = document.createTreeWalker(example, NodeFilter.SHOW_TEXT);
  for (let n = texts.nextNode(); n; n = texts.nextNode())
    n.nodeValue = n
      .nodeValue!.replaceAll("http://127.0.0.1:8080", origin)
      .replaceAll("ws://127.0.0.1:8080", origin.replace(/^http/, "ws"));
}

/** The menu of phones closes when a heading of this page was chosen: no page is loaded then. */
const menu = document.getElementById("pages")!;
menu.addEventListener("click", (e) => {
  if ((e.target as Element).closest(".below a") && menu.matches(":popover-open")) menu.hidePopover();
});

const box = document.querySelector<HTMLElement>(".look");
if (box) search(box);
for (const pre of document.querySelectorAll("pre")) {
  const frame = document.createElement("div"),
    button = document.createElement("button");
  frame.className = "example";
  button.className = "btn sm";
  button.type = "button";
  button.textContent = "Copy";
  button.addEventListener("click", () => void copy(pre, button));
  fillIn(pre);
  pre.replaceWith(frame);
  frame.append(pre, button);
}
