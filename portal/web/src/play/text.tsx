// The text and what will be spoken, linked at their spans: pointing at one side marks both.

import type { ReadonlySignal, Signal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { familyOf, sourcePieces, spokenPieces, type Piece } from "./marks";
import { reasonOf, type PreviewResult } from "./preview";
import { Icon } from "../ui/icons";
import type { T } from "./settings";

interface SourceProps {
  t: T;
  text: string;
  preview: PreviewResult;
  chars: number;
  hovered: Signal<number>;
  onText(text: string): void;
  onFocus(): void;
  onComposing(on: boolean): void;
}

/** A textarea over a layer of marks with the same font and wrapping. The text itself never becomes HTML. */
export function Source({ t, text, preview, chars, hovered, onText, onFocus, onComposing }: SourceProps) {
  const layer = useRef<HTMLDivElement>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const spans = preview.typed === text ? (preview.preview?.spans ?? []) : []; // marks of another text would lie wrong
  const pieces = useMemo(() => sourcePieces(text, spans), [text, spans]);
  const atCaret = () => (hovered.value = spanAt(pieces, field.current?.selectionStart ?? 0));
  useEffect(() => {
    if (document.activeElement === field.current) atCaret(); // the preview came after the key
  }, [pieces]);
  const follow = (e: Event) => {
    if (layer.current) layer.current.scrollTop = (e.currentTarget as HTMLElement).scrollTop;
  };
  return (
    <>
      <div class="play-source">
        <div class="play-layer" aria-hidden="true" ref={layer}>
          <Pieces pieces={pieces} hovered={hovered} />
          {"\n"}
        </div>
        <textarea
          ref={field}
          aria-labelledby="play-text"
          aria-describedby="play-count"
          rows={4}
          value={text}
          spellcheck={false}
          onScroll={follow}
          onFocus={onFocus}
          onInput={(e) => onText(e.currentTarget.value)}
          onCompositionStart={() => onComposing(true)}
          onCompositionEnd={() => onComposing(false)}
          onKeyUp={atCaret}
          onBlur={() => (hovered.value = -1)}
          onPointerMove={(e) => (hovered.value = under(layer.current, e))}
          onPointerLeave={() => (hovered.value = -1)}
        />
      </div>
      <p id="play-count" class={chars > 4000 ? "play-count over" : "play-count"}>
        <span class="num">{t("play.count", { n: chars })}</span> · {t("play.rewritten", { n: spans.length })}
        {(["qty", "code", "time", "name"] as const).map((f) => (
          <span class={"play-key " + f}>{t("play.family." + f)}</span>
        ))}
      </p>
    </>
  );
}

// The span in which the caret stands, or which it touches: keys link both sides, too.
function spanAt(pieces: readonly Piece[], caret: number): number {
  let at = 0;
  for (const p of pieces) {
    at += p.text.length;
    if (p.span && caret >= at - p.text.length && caret <= at) return p.index;
  }
  return -1;
}

// The textarea lies above the marks, so the mark under the pointer is looked for by its boxes.
function under(layer: HTMLElement | null, e: PointerEvent): number {
  for (const mark of layer?.querySelectorAll<HTMLElement>("[data-span]") ?? []) {
    for (const r of mark.getClientRects()) {
      if (e.clientX >= r.left && e.clientX < r.right && e.clientY >= r.top && e.clientY < r.bottom)
        return Number(mark.dataset.span);
    }
  }
  return -1;
}

function Pieces({ pieces, hovered, focusable }: { pieces: Piece[]; hovered: Signal<number>; focusable?: boolean }) {
  return (
    <>
      {pieces.map((p) => {
        if (!p.span) return p.text;
        const family = familyOf(p.span.kind);
        const marked = hovered.value === p.index ? " on" : "";
        if (!focusable)
          return (
            <span class={`mark ${family}${marked}`} data-span={p.index}>
              {p.text}
            </span>
          );
        const on = () => (hovered.value = p.index);
        const off = () => (hovered.value = -1);
        return (
          <span
            class={`said ${family}${marked}`}
            data-span={p.index}
            tabIndex={0}
            title={p.span.kind}
            onPointerEnter={on}
            onPointerLeave={off}
            onFocus={on}
            onBlur={off}
          >
            {p.text}
          </span>
        );
      })}
    </>
  );
}

/** About the height of what will be spoken, which is kept free until it comes: nothing below moves much. */
const heightFor = (chars: number) => Math.max(0, Math.min(640, Math.ceil(chars / 90) * 70) - 44) + "px";

export function Spoken({
  t,
  preview,
  chars,
  mayAsk,
  hovered,
  chunk,
  copy,
}: {
  t: T;
  preview: PreviewResult;
  chars: number;
  mayAsk: boolean;
  hovered: Signal<number>;
  chunk: ReadonlySignal<number>;
  copy(text: string): void;
}) {
  const p = preview.preview;
  const pieces = useMemo(() => (p ? spokenPieces(p) : []), [p]);
  const tokens = p?.chunks.reduce((n, c) => n + c.tokens, 0) ?? 0;
  const kind = p?.spans[hovered.value]?.kind ?? "";
  const refused = preview.refusal;
  const instead = !mayAsk ? t("play.viewer") : refused ? reasonOf(t, refused) : p ? "" : t("play.spoken.empty");
  return (
    <section class="card" aria-labelledby="play-spoken">
      <header>
        <h2 id="play-spoken">{t("play.spoken")}</h2>
        {p && (
          <span class="small muted">
            {t(p.chunks.length === 1 ? "play.chunks.one" : "play.chunks.more", {
              chunks: p.chunks.length,
              tokens,
              ms: Math.round(preview.ms),
            })}
          </span>
        )}
        <span class="end xs muted" role="status">
          {kind}
        </span>
        {p && (
          <button type="button" class="btn ghost sm" onClick={() => copy(p.normalized)}>
            <Icon name="copy" />
            {t("play.copy")}
          </button>
        )}
      </header>
      {instead && (
        <p class="play-empty" role="status" data-code={refused?.code}>
          {instead} {refused?.requestID && <code>{refused.requestID}</code>}
        </p>
      )}
      {p?.unspoken && (
        <p class="play-note" data-unspoken>
          <bdi>{t("play.unspoken", { what: p.unspoken })}</bdi>
        </p>
      )}
      <ol class="play-chunks" style={instead && mayAsk && !refused ? { minHeight: heightFor(chars) } : {}}>
        {pieces.map((line, i) => (
          <li class={chunk.value === i ? "on" : ""}>
            <p lang="hi">
              <Pieces pieces={line} hovered={hovered} focusable />
            </p>
            <span class="num xs muted" title={t("play.tokens", { n: p!.chunks[i]!.tokens })}>
              {p!.chunks[i]!.tokens} / 50
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}
