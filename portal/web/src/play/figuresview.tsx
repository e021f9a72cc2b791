import type { ReadonlySignal } from "@preact/signals";
import { paise, type Figures as Values } from "./figures";
import type { T } from "./settings";

const NONE = "–";

export function Figures({ t, figures }: { t: T; figures: ReadonlySignal<Values> }) {
  const f = figures.value;
  const ms = (n: number | undefined) => (n === undefined ? NONE : n < 10 ? n.toFixed(1) : String(Math.round(n)));
  const frames = f.billedFrames ?? f.frames;
  return (
    <details>
      <summary class="play-line num">
        <Line t={t} f={f} frames={frames} />
        <span class="end">{t("play.details")}</span>
      </summary>
      <dl class="play-figures">
        <div class="big" data-figure="first">
          <dt>{t("play.first")}</dt>
          <dd>
            <b class="num">{ms(f.firstSoundMs)}</b> ms
          </dd>
          <dd class="xs" data-output={f.outputMs}>
            {t("play.clickToSpeaker")}
          </dd>
        </div>
        <div data-figure="server">
          <dt>{t("play.server")}</dt>
          <dd class="num">{ms(f.serverMs)} ms</dd>
          <dd class="xs">{t("play.queue", { ms: ms(f.queueMs) })}</dd>
        </div>
        <div data-figure="prefill">
          <dt>{t("play.prefill")}</dt>
          <dd class="num">
            {f.prefillCached ? t("play.cached") : f.prefillCached === undefined ? NONE : ms(f.prefillMs) + " ms"}
          </dd>
          {f.savedMs > 0 && <dd class="xs">{t("play.saved", { ms: ms(f.savedMs) })}</dd>}
        </div>
        <div data-figure="speed">
          <dt>{t("play.speed")}</dt>
          <dd class="num">{f.rtf === undefined ? NONE : "RTF " + f.rtf.toFixed(3)}</dd>
          {f.rtf !== undefined && f.rtf > 0 && <dd class="xs">{t("play.times", { n: Math.round(1 / f.rtf) })}</dd>}
        </div>
        <div data-figure="buffer">
          <dt>{t("play.buffer")}</dt>
          <dd class="num">{f.bufferS.toFixed(1)} s</dd>
          <dd class="xs" data-underruns={f.underruns}>
            {t("play.underruns", { n: f.underruns })}
          </dd>
        </div>
        <div data-figure="cost">
          <dt>{t("play.cost")}</dt>
          <dd class="num" title={t("play.monthly")}>
            {t("play.paise", { n: paise(frames) })}
          </dd>
          <dd class="xs" data-billed={f.billedFrames}>
            {t("play.frames", { n: frames })} · {t("play.bytes", { n: f.bytes })}
          </dd>
        </div>
      </dl>
    </details>
  );
}

/** The figures that somebody looks at first, as a sentence. */
function Line({ t, f, frames }: { t: T; f: Values; frames: number }) {
  if (f.firstSoundMs === undefined) return <>{t("play.figures.none")}</>;
  const parts = [
    t("play.figures.first", { ms: Math.round(f.firstSoundMs) }),
    t("play.paise", { n: paise(frames) }),
    ...(f.rtf ? [t("play.times", { n: Math.round(1 / f.rtf) })] : []),
  ];
  return (
    <>
      <b>{parts[0]}</b>
      {parts.slice(1).map((p) => " · " + p)}
    </>
  );
}
