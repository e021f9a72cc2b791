// Full-text search of the documentation. The index is built with the pages (hack/web/search.go).

/** A page: address, title, then identifier, heading and text of each section. The first section may have no heading. */
type Page = [address: string, title: string, ...sections: string[]];
export type Index = { pages: Page[]; synonyms: Record<string, string[]> };
export type Hit = {
  address: string;
  title: string;
  below: string;
  /** The sentence that was hit, in pieces; those at odd places are the words that were looked for. */
  sentence: string[];
};

/** What a word of the query may stand for, and how much each counts. */
type Form = { part: string; at: RegExp; weight: number };
type Term = { forms: Form[]; seen: Set<number> };

const fillers = new Set(
  "a an the to of in on for is are how do does i my we our can what when where why with and or it its from kaise kya ka ki ke ko hai mein".split(
    " ",
  ),
);
const most = 12,
  ofOnePage = 3;

const endings = "ations?|ating|ated|ates?|ings?|ies|ied|ed|es|s|e|y";
const ending = new RegExp(`(${endings})$`);

/** The part of a word that its other forms share: rotating, rotated, rotates → rotat. */
function stem(word: string) {
  if (!/^[a-z]{5,}$/.test(word)) return word;
  return word.replace(ending, (end) => (word.length - end.length < 3 ? end : ""));
}

const escaped = (word: string) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

const letter = "[\\p{L}\\p{M}\\p{N}]";

/** Where a text has a word, in any of its forms. */
const whole = (word: string, weight: number): Form => ({
  part: stem(word),
  at: new RegExp(`(?<!${letter})${escaped(stem(word))}(?:${endings})?(?!${letter})`, "gu"),
  weight,
});

/** Where a text has a longer word that begins so. */
const longer = (word: string, weight: number): Form => ({
  part: word,
  at: new RegExp(`(?<!${letter})${escaped(word)}${letter}+`, "gu"),
  weight,
});

const split = (text: string) =>
  text
    .normalize("NFC")
    .toLowerCase()
    .split(/[\s,;?!“”"()]+/)
    .filter(Boolean);

function termsOf(query: string, synonyms: Index["synonyms"]): Term[] {
  let asked = split(query);
  const told = asked.filter((w) => !fillers.has(w));
  if (told.length > 0) asked = told;
  // Two words may have a meaning of their own, such as "rate limit".
  const joined = new Map<string, string[]>();
  for (let i = 0; i + 1 < asked.length; i++) {
    const both = synonyms[asked[i] + " " + asked[i + 1]];
    if (both) for (const w of [asked[i]!, asked[i + 1]!]) joined.set(w, both);
  }
  return asked.map((word) => {
    const others = [...(synonyms[word] ?? synonyms[stem(word)] ?? []), ...(joined.get(word) ?? [])];
    return {
      forms: [whole(word, 1), ...(word.length > 2 ? [longer(word, 0.3)] : []), ...others.map((w) => whole(w, 0.6))],
      seen: new Set<number>(),
    };
  });
}

/** How often a text in small letters has a word, in any of its forms, weighed. */
function count(term: Term, text: string) {
  let sum = 0;
  for (const { part, at, weight } of term.forms)
    if (text.includes(part)) sum += weight * Math.min(text.match(at)?.length ?? 0, 6); // the pattern alone is slow
  return sum;
}

const small = new WeakMap<Page, string[]>();

/** A page in small letters. */
function smallOf(page: Page) {
  let texts = small.get(page);
  if (!texts) small.set(page, (texts = page.map((t) => t.toLowerCase())));
  return texts;
}

/** The best sections, those with all words first. */
export function find(index: Index, query: string): Hit[] {
  const terms = termsOf(query, index.synonyms);
  if (terms.length === 0) return [];
  type Section = { page: Page; i: number; counts: number[]; score: number; all: boolean };
  const sections: Section[] = [];
  for (const page of index.pages) {
    const texts = smallOf(page),
      title = terms.map((t) => count(t, texts[1]!));
    for (let i = 2; i < page.length; i += 3) {
      const heading = texts[i + 1]!,
        text = texts[i + 2]!,
        long = 1 + text.length / 1500;
      const counts = terms.map((t, k) => {
        const there = count(t, text);
        const named = heading ? 5 * Math.min(count(t, heading), 1) : 0;
        const titled = title[k]! > 0 ? (heading ? 2 : 6) * Math.min(title[k]!, 1) : 0;
        if (named + titled + there > 0) t.seen.add(sections.length);
        return named + titled + (2 * there) / (there + long);
      });
      sections.push({ page, i, counts, score: 0, all: counts.every((n) => n > 0) });
    }
  }
  const rare = terms.map((t) => Math.log(1 + sections.length / (1 + t.seen.size)));
  for (const s of sections) {
    const own = s.counts.reduce((sum, n, k) => sum + n * rare[k]!, 0);
    s.score = own * (s.all ? 2 : s.counts.filter((n) => n > 0).length / terms.length) * weightOf(s.page[0]);
  }
  const taken = new Map<Page, number>();
  return sections
    .filter((s) => s.score > 0)
    .sort((a, b) => b.score - a.score)
    .filter((s) => {
      const n = taken.get(s.page) ?? 0;
      taken.set(s.page, n + 1);
      return n < ofOnePage;
    })
    .slice(0, most)
    .map(({ page, i }) => ({
      address: page[0] + (page[i] ? "#" + page[i] : ""),
      title: page[i + 1] || page[1],
      below: page[i + 1] ? page[1] : "",
      sentence: sentenceOf(page[i + 2]!, terms),
    }));
}

/** Pages that explain stand before those about one command, one alert, measurements and old news. */
function weightOf(address: string) {
  if (/^\/docs\/(api)?$/.test(address)) return 1.3;
  if (/^\/docs\/(runbooks|changelog|capacity|.*benchmark)/.test(address)) return 0.6;
  return address.startsWith("/docs/cli/") ? 0.8 : 1;
}

const longest = 150;

/** The sentence of a text that has most of the words, cut where it is long, with the words apart. */
function sentenceOf(text: string, terms: Term[]): string[] {
  let best = "",
    most = 0;
  for (const s of text.split(/\n|(?<=[.?!।]) (?=\p{Lu})/u)) {
    const has = terms.reduce((sum, t) => sum + Math.min(count(t, s.toLowerCase()), 1), 0);
    if (has > most || !best) [best, most] = [s, has];
  }
  const any = new RegExp("(" + terms.flatMap((t) => t.forms.map((f) => f.at.source)).join("|") + ")", "giu");
  if (best.length > longest) {
    const from = Math.max(0, best.search(any) - 50),
      start = from === 0 ? 0 : best.indexOf(" ", from) + 1,
      end = best.lastIndexOf(" ", start + longest);
    best = (start > 0 ? "… " : "") + best.slice(start, end > start ? end : start + longest) + "…";
  }
  return best.split(any);
}
