// Numbers, money and times as people in India write them. Days are those of Asia/Kolkata, which knows no summer time.

import { language } from "./language";

const IST = 19_800_000; // ms
export const DAY = 86_400_000; // ms

// Formatters are made once: each takes longer to make than a row of a table to draw.
function once<F>(make: (locale: string, key: string | number) => F) {
  const made = new Map<string, F>();
  return (locale: string, key: string | number): F => {
    const name = locale + " " + key;
    const known = made.get(name) ?? make(locale, key);
    made.set(name, known);
    return known;
  };
}

const numbers = once(
  (locale, digits) =>
    new Intl.NumberFormat(locale, { minimumFractionDigits: Number(digits), maximumFractionDigits: Number(digits) }),
);

export const number = (n: number, digits = 0): string => numbers("en-IN", digits).format(n);

export const rupees = (paise: number) => "₹" + number(paise / 100, 2);
export const ms = (n: number | null | undefined) =>
  n === null || n === undefined
    ? "–"
    : number(n < 10 ? Math.round(n * 10) / 10 : Math.round(n), n < 10 ? 1 : 0) + " ms";

const locale = () => (language.value === "hi" ? "hi-IN-u-nu-latn" : "en-IN");

const styles: Record<string, Intl.DateTimeFormatOptions> = {
  day: { day: "numeric", month: "short", year: "numeric" },
  shortDay: { day: "numeric", month: "short" },
  weekday: { weekday: "short", day: "numeric", month: "short" },
  month: { month: "long", year: "numeric" },
  clock: { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false },
};
styles.exact = { ...styles.day, ...styles.clock };

const dates = once((locale, style) => new Intl.DateTimeFormat(locale, { timeZone: "Asia/Kolkata", ...styles[style] }));
const date = (style: string) => (at: number | string) => dates(locale(), style).format(new Date(at));

export const day = date("day");
export const shortDay = date("shortDay");
export const weekday = date("weekday");
export const month = date("month");
export const clock = date("clock");
export const exact = date("exact");

/** The first moment of a day, in ms. */
export const dayStart = (at: number) => Math.floor((at + IST) / DAY) * DAY - IST;

/** The first moment of a day as YYYY-MM-DD, or NaN. */
export function dayOf(text: string): number {
  return /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text + "T00:00:00Z") - IST : NaN;
}

/** A moment's day as YYYY-MM-DD. */
export const isoDay = (at: number) => new Date(at + IST).toISOString().slice(0, 10);

const relatives = once((locale) => new Intl.RelativeTimeFormat(locale, { numeric: "auto", style: "short" }));

/** How long ago, in words; a day where it is long ago. */
export function ago(at: number | string, now = Date.now()): string {
  const s = Math.round((now - new Date(at).getTime()) / 1000);
  const relative = relatives(locale(), "");
  if (s < 45) return relative.format(0, "second");
  if (s < 3600) return relative.format(-Math.round(s / 60), "minute");
  if (s < 86_400) return relative.format(-Math.round(s / 3600), "hour");
  return day(at);
}
