// What pages of the documentation can do more where scripts run: be searched by their headings, and have their examples copied.

type Entry = [address: string, title: string, headings: string[]];
type Hit = { address: string; title: string; below: string; weight: number };

let entries: Promise<Entry[]> | undefined;

const load = () =>
  (entries ??= fetch("/docs/search.json").then((r) => (r.ok ? r.json() : Promise.reject(new Error(String(r.status))))));

/** Where all words are found: in titles first, then in headings that begin with the first of them. */
export function find(all: Entry[], asked: string): Hit[] {
  const words = asked.toLowerCase().split(/\s+/).filter(Boolean);
  const hits: Hit[] = [];
  const look = (address: string, text: string, below: string, weight: number) => {
    const at = (below + " " + text).toLowerCase();
    if (words.every((w) => at.includes(w)) && words.some((w) => text.toLowerCase().includes(w))) {
      hits.push({ address, title: text, below, weight: weight - (text.toLowerCase().startsWith(words[0]!) ? 1 : 0) });
    }
  };
  if (words.length > 0) {
    for (const [address, title, headings] of all) {
      look(address, title, "", 0);
      for (let i = 0; i < headings.length; i += 2) look(address + "#" + headings[i], headings[i + 1]!, title, 2);
    }
  }
  return hits.sort((a, b) => a.weight - b.weight).slice(0, 12);
}

function search(box: HTMLElement) {
  const field = box.querySelector("input")!,
    list = box.querySelector("ul")!,
    status = box.querySelector("[role=status]")!;
  box.classList.remove("off"); // its place was kept, so that nothing moves
  field.addEventListener("focus", () => void load().catch(() => (entries = undefined)), { once: true });
  field.addEventListener("input", async () => {
    const asked = field.value;
    let hits: Hit[];
    try {
      hits = find(await load(), asked);
    } catch {
      entries = undefined;
      status.textContent = "Search is unavailable. Try again.";
      return;
    }
    if (asked !== field.value) return;
    const rows = hits.map((h) => {
      const row = document.createElement("li"),
        link = document.createElement("a");
      link.href = h.address;
      link.textContent = h.title;
      const below = document.createElement("span");
      below.textContent = h.below;
      link.append(below);
      row.append(link);
      return row;
    });
    if (hits.length === 0) {
      const none = document.createElement("li"),
        p = document.createElement("p");
      p.textContent = `No results for “${asked.trim()}”.`;
      none.append(p);
      rows.push(none);
    }
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
