// Charts in SVG: stacked bars, lines, and a line as small as a word. Colours repeat what order, legend and table say.

import { useRef, useState } from "preact/hooks";
import { number } from "../lib/format";
import { colour } from "./series";

const WIDTH = 980;
const HEIGHT = 252;
const LEFT = 36; // of the axis, which stays where the bars scroll

export interface BarSeries {
  name: string;
  other?: boolean; // what is left of all others
  values: readonly number[];
}

interface BarsProps {
  label: string;
  days: readonly string[]; // of the axis, one a bar
  titles: readonly string[]; // of the tooltip
  series: readonly BarSeries[];
  digits: number;
  foot(i: number): readonly [text: string, value: string];
}

/** The step of an axis that ends above max: 1, 2, 4 or 5 times a power of ten. */
export function step(max: number): number {
  const rough = Math.max(max, 1e-6) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  return ([1, 2, 4, 5, 10].find((n) => n * power >= rough) ?? 10) * power;
}

const HATCHED = [6, 7, 8, 9]; // whose bars are striped, too: eight colours alone are hard to tell apart

const colourOf = (all: readonly BarSeries[], i: number) => colour(i, all[i]?.other);

/** Stripes of a colour, as the fill of a bar. */
const Hatches = () => (
  <defs>
    {HATCHED.map((n) => (
      <pattern id={"hatch" + n} width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
        <rect class={"c" + n} width="5" height="5" />
        <rect class="gap" width="1.6" height="5" />
      </pattern>
    ))}
  </defs>
);

/** How a bar is filled: by its class, or with the stripes of its colour. */
const filled = (c: string) =>
  HATCHED.includes(Number(c.slice(1))) ? { class: "striped", fill: `url(#hatch${c.slice(1)})` } : { class: c };

export function Bars(p: BarsProps) {
  const [at, setAt] = useState(-1);
  const box = useRef<HTMLDivElement>(null);
  const n = p.days.length;
  const totals = p.days.map((_, i) => p.series.reduce((sum, s) => sum + (s.values[i] ?? 0), 0));
  const by = step(Math.max(...totals, 0));
  const top = Math.max(1, Math.ceil(Math.max(...totals, 0) / by)) * by;
  const height = 210;
  const y = (v: number) => 14 + height * (1 - v / top);
  const slot = (WIDTH - LEFT - 8) / n;
  const bar = Math.min(24, slot * 0.68);
  const every = Math.max(1, Math.ceil(n / 8));
  const ticks = Array.from({ length: Math.round(top / by) + 1 }, (_, i) => i * by);
  const point = (e: PointerEvent) => {
    const r = (e.currentTarget as SVGElement).getBoundingClientRect();
    const i = Math.floor((((e.clientX - r.left) / r.width) * (WIDTH - LEFT)) / slot);
    setAt(i >= 0 && i < n ? i : -1);
  };
  const key = (e: KeyboardEvent) => {
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: n - 1 }[e.key];
    if (to === undefined) return;
    e.preventDefault();
    setAt(Math.min(n - 1, Math.max(0, to)));
  };
  const digits = by < 0.1 ? 2 : by < 1 ? 1 : 0;
  return (
    <div class="cw bars" ref={box}>
      <div class="axis num" aria-hidden="true">
        {ticks.map((v) => (
          <span style={{ top: (y(v) * 100) / HEIGHT + "%" }}>{number(v, digits)}</span>
        ))}
      </div>
      <div class="cs" tabIndex={0} role="group" aria-label={p.label} onKeyDown={key} onBlur={() => setAt(-1)}>
        <svg
          class="ch"
          viewBox={`${LEFT} 0 ${WIDTH - LEFT} ${HEIGHT}`}
          role="img"
          aria-label={p.label}
          onPointerMove={point}
          onPointerLeave={() => setAt(-1)}
        >
          <Hatches />
          {at >= 0 && <rect class="band" x={LEFT + at * slot} y="6" width={slot} height={height + 10} />}
          {ticks.map((v) => (
            <line class="gl" x1={LEFT} x2={WIDTH - 4} y1={y(v)} y2={y(v)} />
          ))}
          {p.days.map((d, i) => (
            <g class={at === i ? "hi" : ""} data-bar={i}>
              {stack(p.series, i).map(([s, from, to]) => (
                <rect
                  {...filled(colourOf(p.series, s))}
                  x={LEFT + i * slot + (slot - bar) / 2}
                  width={bar}
                  y={y(to)}
                  height={Math.max(0.6, y(from) - y(to) - 1)}
                  rx="2"
                />
              ))}
              {i % every === 0 && (
                <text x={LEFT + (i + 0.5) * slot} y="244" text-anchor="middle">
                  {d}
                </text>
              )}
            </g>
          ))}
        </svg>
      </div>
      {at >= 0 && <Tip p={p} at={at} where={(LEFT + (at + 0.5) * slot) / WIDTH} />}
    </div>
  );
}

function stack(series: readonly BarSeries[], i: number): [series: number, from: number, to: number][] {
  let sum = 0;
  return series.flatMap((s, k) => {
    const v = s.values[i] ?? 0;
    sum += v;
    return v > 0 ? [[k, sum - v, sum] as [number, number, number]] : [];
  });
}

function Tip({ p, at, where }: { p: BarsProps; at: number; where: number }) {
  const [text, value] = p.foot(at);
  return (
    <div
      class="tip"
      role="status"
      style={where < 0.6 ? { left: where * 100 + 2 + "%" } : { right: (1 - where) * 100 + 2 + "%" }}
    >
      <b>{p.titles[at]}</b>
      {p.series.map(
        (s, i) =>
          (s.values[at] ?? 0) > 0 && (
            <span class="row">
              <span class={"sq2 " + colourOf(p.series, i)} />
              <bdi class="grow cut">{s.name}</bdi>
              <b class="num">{number(s.values[at]!, p.digits)}</b>
            </span>
          ),
      )}
      <span class="row tt">
        {text}
        <b class="end num">{value}</b>
      </span>
    </div>
  );
}

interface LinesProps {
  label: string;
  ends: readonly [string, string]; // of the axis
  series: readonly { name: string; dashed?: boolean; values: readonly (number | null)[] }[];
}

export function Lines({ label, ends, series }: LinesProps) {
  const max = Math.max(1, ...series.flatMap((s) => s.values.map((v) => v ?? 0)));
  const by = step(max);
  const top = Math.ceil(max / by) * by;
  const n = series[0]?.values.length ?? 0;
  const x = (i: number) => 52 + (i * 428) / Math.max(1, n - 1);
  const y = (v: number) => 12 + 120 * (1 - v / top);
  return (
    <div class="cw">
      <svg class="ch few" viewBox="0 0 490 168" role="img" aria-label={label}>
        {Array.from({ length: Math.round(top / by) + 1 }, (_, i) => (
          <g>
            <line class="gl" x1="52" x2="482" y1={y(i * by)} y2={y(i * by)} />
            <text x="46" y={y(i * by) + 4} text-anchor="end">
              {number(i * by)}
            </text>
          </g>
        ))}
        {series.map((s, i) => (
          <path class={`ln c${i + 1}${s.dashed ? " dashed" : ""}`} d={path(s.values, x, y)} />
        ))}
        {series.map((s, i) =>
          s.values.map(
            (v, at) =>
              v !== null &&
              s.values[at - 1] == null &&
              s.values[at + 1] == null && <circle class={`c${i + 1}`} cx={x(at)} cy={y(v)} r="2.5" />,
          ),
        )}
        <text x="52" y="158">
          {ends[0]}
        </text>
        <text x="482" y="158" text-anchor="end">
          {ends[1]}
        </text>
      </svg>
    </div>
  );
}

// Days without a value leave a gap.
function path(values: readonly (number | null)[], x: (i: number) => number, y: (v: number) => number): string {
  let d = "";
  values.forEach((v, i) => {
    if (v === null) return;
    d += `${values[i - 1] == null ? "M" : "L"}${x(i).toFixed(1)} ${y(v).toFixed(1)}`;
  });
  return d;
}

/** A line as small as a word, beside a figure that says the same. */
export function Spark({ values }: { values: readonly number[] }) {
  const max = Math.max(1e-9, ...values);
  const d = values
    .map(
      (v, i) =>
        `${i ? "L" : "M"}${((i * 88) / Math.max(1, values.length - 1) + 1).toFixed(1)} ${(19 - (16 * v) / max).toFixed(1)}`,
    )
    .join("");
  return (
    <svg class="spark" width="90" height="22" viewBox="0 0 90 22" aria-hidden="true">
      <path class="ln c1" d={d} />
    </svg>
  );
}
