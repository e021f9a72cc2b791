// Play, Stop and the waveform.

import { useEffect, useRef } from "preact/hooks";
import { RATE } from "./queue";
import { coloursOf, draw } from "./wave";
import type { Speaking } from "./speaking";
import type { T } from "./settings";

interface Props {
  t: T;
  speaking: Speaking;
  playable: boolean;
  reason: string; // why not, as text
  onPlay(): void;
}

export function Wave({ t, speaking, playable, reason, onPlay }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useDrawing(canvas, speaking);
  const busy = speaking.state.value !== "idle";
  const seconds = (samples: number) => (samples / RATE).toFixed(1);
  const played = seconds(speaking.played.value);
  const all = seconds(speaking.peaks.samples);
  return (
    <div class="play-wave">
      <button
        type="button"
        class="play-button"
        data-state={speaking.state.value}
        aria-label={t(busy ? "play.stop" : "play.play")}
        disabled={!busy && !playable}
        aria-describedby={reason ? "play-reason" : undefined}
        onClick={() => (busy ? speaking.stop() : onPlay())}
      >
        <svg viewBox="0 0 16 16" width="20" height="20" aria-hidden="true">
          {busy ? <rect x="4" y="4" width="8" height="8" rx="1.5" /> : <path d="M5 3.5v9l7.5-4.5z" />}
        </svg>
      </button>
      <div class="grow">
        <canvas ref={canvas} role="img" aria-label={t("play.wave", { s: all, played })} />
        <p class="row xs muted num">
          <span>{played} s</span>
          {speaking.chunk.value >= 0 && (
            <span class="chip acc">
              {t("play.chunkOf", { n: speaking.chunk.value + 1, all: speaking.chunks.value })}
            </span>
          )}
          {speaking.interrupted && (
            <button type="button" class="btn sm" onClick={() => speaking.resume()}>
              {t("play.resume")}
            </button>
          )}
          {reason && (
            <span id="play-reason" class="bad">
              {reason}
            </span>
          )}
          <span class="end row hide-s">
            <kbd>Esc</kbd> {t("play.keyStop")} <kbd>Ctrl ⏎</kbd> {t("play.keyPlay")}
          </span>
          <span class="last">{all} s</span>
        </p>
      </div>
    </div>
  );
}

// Drawn once a frame while something changes, and once a second where motion is not wanted.
function useDrawing(canvas: { current: HTMLCanvasElement | null }, speaking: Speaking) {
  useEffect(() => {
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    let frame = 0;
    let drawn = "";
    const paint = () => {
      const c = canvas.current;
      if (c) drawn = paintOnce(c, speaking, drawn);
      frame = still ? window.setTimeout(paint, 1000) : requestAnimationFrame(paint);
    };
    paint();
    return () => (still ? clearTimeout(frame) : cancelAnimationFrame(frame));
  }, [speaking]);
}

function paintOnce(c: HTMLCanvasElement, s: Speaking, drawn: string): string {
  const theme = document.documentElement.dataset.theme ?? "";
  const look = [
    s.peaks.samples,
    s.starts.length,
    s.played.value,
    c.clientWidth,
    c.clientHeight,
    devicePixelRatio,
    theme,
  ].join();
  if (look === drawn) return drawn;
  draw(c, { peaks: s.peaks.values, starts: s.starts, samples: s.peaks.samples, played: s.played.value }, coloursOf(c));
  return look;
}
