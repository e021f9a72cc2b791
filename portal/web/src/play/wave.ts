// The waveform: bars that hang from a line, as letters hang from the shirorekha. Each chunk has its own piece of the line.

import { RATE } from "./queue";

export const BLOCK = 480; // samples behind one peak: 20 ms

/** Peaks of 20 ms from samples that come in pieces of any length. */
export class Peaks {
  readonly values: number[] = []; // 0 to 1
  samples = 0;
  private high = 0;

  add(pcm: ArrayBuffer) {
    for (const s of new Int16Array(pcm)) {
      const a = Math.abs(s);
      if (a > this.high) this.high = a;
      if (++this.samples % BLOCK === 0) this.close();
    }
  }

  /** Call when no more comes: the last piece may be shorter. */
  end() {
    if (this.samples % BLOCK !== 0) this.close();
  }

  private close() {
    this.values.push(this.high / 32768);
    this.high = 0;
  }
}

export interface WaveState {
  peaks: readonly number[];
  starts: readonly number[]; // first sample of each chunk
  samples: number; // that have arrived
  played: number; // samples
}

interface Colours {
  played: string;
  rest: string;
  line: string;
}

const BAR = 3;
const STEP = 5;
const LINE = 3;
const GAP = 2; // between the line and its bars
const APART = 9; // between two chunks

/** Draws as much as fits: bars take the highest of the peaks that they stand for. Sizes are CSS pixels. */
export function draw(canvas: HTMLCanvasElement, w: WaveState, colours: Colours) {
  const { clientWidth: width, clientHeight: height } = canvas;
  const density = window.devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * density)) canvas.width = Math.round(width * density);
  if (canvas.height !== Math.round(height * density)) canvas.height = Math.round(height * density);
  const g = canvas.getContext("2d");
  if (!g) return;
  g.setTransform(density, 0, 0, density, 0, 0);
  g.clearRect(0, 0, width, height);
  if (w.samples === 0) bar(g, 0, 0, width, LINE, colours.line); // nothing hangs from it yet
  for (const p of layOut(w, width)) {
    piece(g, p, w, height, colours);
  }
}

interface Place {
  from: number; // samples
  to: number;
  x: number;
  width: number;
}

/** Where the pieces lie. The width stands for at least 4 s, so that a short take does not look loud. */
export function layOut(w: Pick<WaveState, "starts" | "samples">, width: number): Place[] {
  const starts = w.starts.length > 0 ? w.starts : [0];
  const total = Math.max(w.samples, 4 * RATE);
  const room = Math.max(0, width - APART * (starts.length - 1));
  const places: Place[] = [];
  let x = 0;
  starts.forEach((from, i) => {
    const to = Math.max(from, starts[i + 1] ?? w.samples);
    const wide = (room * (to - from)) / total;
    places.push({ from, to, x, width: wide });
    x += wide + APART;
  });
  return places.filter((p) => p.to > p.from);
}

function piece(g: CanvasRenderingContext2D, p: Place, w: WaveState, height: number, c: Colours) {
  const split = Math.min(1, Math.max(0, (w.played - p.from) / (p.to - p.from)));
  bar(g, p.x, 0, p.width, LINE, c.line);
  if (split > 0) bar(g, p.x, 0, p.width * split, LINE, c.played);
  const bars = Math.max(1, Math.floor(p.width / STEP));
  for (let i = 0; i < bars; i++) {
    const from = p.from + ((p.to - p.from) * i) / bars;
    const to = p.from + ((p.to - p.from) * (i + 1)) / bars;
    const peak = highest(w.peaks, from / BLOCK, to / BLOCK);
    const tall = Math.max(BAR, Math.sqrt(peak) * (height - LINE - GAP));
    bar(g, p.x + i * STEP, LINE + GAP, BAR, tall, (i + 0.5) / bars <= split ? c.played : c.rest);
  }
}

function highest(peaks: readonly number[], from: number, to: number): number {
  let high = 0;
  for (let i = Math.floor(from); i < Math.max(to, Math.floor(from) + 1) && i < peaks.length; i++)
    high = Math.max(high, peaks[i]!);
  return high;
}

function bar(g: CanvasRenderingContext2D, x: number, y: number, w: number, h: number, colour: string) {
  g.fillStyle = colour;
  g.beginPath();
  g.roundRect(x, y, w, h, Math.min(1.5, w / 2));
  g.fill();
}

export function coloursOf(e: Element): Colours {
  const s = getComputedStyle(e);
  const v = (name: string) => s.getPropertyValue(name).trim();
  return { played: v("--accent"), rest: v("--line-strong"), line: v("--line-strong") };
}
