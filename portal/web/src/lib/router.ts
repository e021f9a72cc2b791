// Where the page is. Addresses are /app/{org}/{page}?…; what a page shows is in its query, so that it can be reloaded, sent and gone back to.

import { computed, signal } from "@preact/signals";

const at = () => ({ path: location.pathname, query: new URLSearchParams(location.search) });

export const place = signal(at());
export const org = computed(() => part(2));
export const page = computed(() => part(3));

function part(n: number): string {
  const p = place.value.path.split("/")[n] ?? "";
  try {
    return place.value.path.startsWith("/app/") ? decodeURIComponent(p) : "";
  } catch {
    return p; // an address that somebody mistyped
  }
}

export function go(to: string, replace = false) {
  if (to === location.pathname + location.search) return;
  history[replace ? "replaceState" : "pushState"](null, "", to);
  place.value = at();
}

/** The address of a page of the organisation. */
export const to = (name: string, of = org.value) => `/app/${encodeURIComponent(of)}/${name}`;

/** Changes fields of the query; "" removes one. The way back leads to the page before, not through every letter of a search. */
export function ask(fields: Record<string, string>, replace = true) {
  const q = new URLSearchParams(location.search);
  for (const [k, v] of Object.entries(fields)) v === "" ? q.delete(k) : q.set(k, v);
  const text = q.toString();
  go(location.pathname + (text && "?" + text), replace);
}

/** Shows the pages behind links without loading the document again. Only the portal may: no other document has those pages. */
export function route() {
  addEventListener("popstate", () => (place.value = at()));
  addEventListener("click", (e) => {
    const a = e.target instanceof Element ? e.target.closest("a") : null;
    if (!a || e.defaultPrevented || e.button !== 0 || e.ctrlKey || e.metaKey || e.shiftKey || e.altKey) return;
    const inside = a.origin === location.origin && a.pathname.startsWith("/app/");
    if (!inside || a.target || a.hasAttribute("download")) return;
    e.preventDefault();
    go(a.pathname + a.search);
  });
}
