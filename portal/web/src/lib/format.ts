// Numbers, money and times as people in India write them. Days are those of Asia/Kolkata, which knows no summer time.

import { language } from "./language";

const IST = 19_800_000; // ms
export const DAY = 86_400_000; // ms

export function number(n: number, digits = 0): string {
  return n.toLocaleString("en-IN", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

export const rupees = (paise: number) => "₹" + number(paise / 100, 2);
export const ms = (n: number | null | undefined) =>
  n === null || n === undefined
    ? "–"
    : number(n < 10 ? Math.round(n * 10) / 10 : Math.round(n), n < 10 ? 1 : 0) + " ms";

const locale = () => (language.value === "hi" ? "hi-IN-u-nu-latn" : "en-IN");

function date(at: number | string, options: Intl.DateTimeFormatOptions): string {
  return new Intl.DateTimeFormat(locale(), { timeZone: "Asia/Kolkata", ...options }).format(new Date(at));
}

export const day = (at: number | string) => date(at, { day: "numeric", month: "short", year: "numeric" });
export const shortDay = (at: number | string) => date(at, { day: "numeric", month: "short" });
export const weekday = (at: number | string) => date(at, { weekday: "short", day: "numeric", month: "short" });
export const month = (at: number | string) => date(at, { month: "long", year: "numeric" });
export const clock = (at: number | string) =>
  date(at, { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false });
export const exact = (at: number | string) =>
  date(at, {
    day: "numeric",
    month: "short",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    hour12: false,
  });

/** The first moment of a day, in ms. */
export const dayStart = (at: number) => Math.floor((at + IST) / DAY) * DAY - IST;

/** The first moment of a day as YYYY-MM-DD, or NaN. */
export function dayOf(text: string): number {
  return /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text + "T00:00:00Z") - IST : NaN;
}

/** A moment's day as YYYY-MM-DD. */
export const isoDay = (at: number) => new Date(at + IST).toISOString().slice(0, 10);

/** How long ago, in words; a day where it is long ago. */
export function ago(at: number | string, now = Date.now()): string {
  const s = Math.round((now - new Date(at).getTime()) / 1000);
  const relative = new Intl.RelativeTimeFormat(locale(), { numeric: "auto", style: "short" });
  if (s < 45) return relative.format(0, "second");
  if (s < 3600) return relative.format(-Math.round(s / 60), "minute");
  if (s < 86_400) return relative.format(-Math.round(s / 3600), "hour");
  return day(at);
}
