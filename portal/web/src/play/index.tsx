// The playground: type, see what will be spoken, hear it as it is made. It knows the shell by its properties only.
// Signals that change while audio comes are read in the parts that show them: the whole page is not rendered again for each message.

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { useSignal, type ReadonlySignal } from "@preact/signals";
import { away } from "../lib/api";
import { DRAFT } from "../lib/draft";
import { copy as copyText } from "../ui/copy";
import { Icon } from "../ui/icons";
import { Menu } from "../ui/menu";
import { Events, jsonLines } from "./events";
import { paise } from "./figures";
import { Figures } from "./figuresview";
import { fetchWith } from "./key";
import { fromFragment, toFragment } from "./link";
import { countPoints, trimmed } from "./marks";
import { Previewer, reasonOf, type PreviewResult } from "./preview";
import { Code, SettingsCard, VoiceCard } from "./side";
import { RATE } from "./queue";
import { bytesOf } from "./takes";
import { Speaking } from "./speaking";
import { Files, TakesList } from "./takesview";
import { Source, Spoken } from "./text";
import { Wave } from "./waveview";
import { defaults, type PlaygroundProps, type T } from "./settings";
import type { SocketKey } from "./socket";
import { isSeed, MAX_CHARS, type Settings } from "./wire";

// At once, not in an effect: what follows a key press may lead to another page before effects run.
function keep(draft: string) {
  try {
    sessionStorage.setItem(DRAFT, draft);
  } catch {
    sessionStorage.removeItem(DRAFT); // megabytes: better none than the one before it
  }
}

const copy = (text: string) => void copyText(text);

const EXAMPLES: readonly [name: string, text: string][] = [
  ["Order", "Namaste Priya! Aapka order #SW-4821 kal 5:30 pm tak deliver ho jayega, total ₹1,499 hai."],
  ["OTP", "Aapka OTP 482913 hai. Ise kisi ke saath share mat kijiye."],
  ["Bank", "A/C XXXX1234 se ₹25,000 debit hue hain 15/08/2026 ko. Balance ₹1,02,350.75 hai."],
  [
    "IVR",
    "Hindi ke liye 1 dabaiye, English ke liye 2. Customer care se baat karne ke liye 98765 43210 par call karein.",
  ],
  ["देवनागरी", "नमस्ते! आपकी ट्रेन 12951 शाम 4:35 बजे प्लेटफ़ॉर्म 3 से रवाना होगी।"],
];

function Examples({ class: name, choose }: { class?: string; choose(example: string): void }) {
  return (
    <>
      {EXAMPLES.map(([title, example]) => (
        <button
          type="button"
          class={name}
          lang={title === "देवनागरी" ? "hi" : undefined}
          onClick={() => choose(example)}
        >
          {title}
        </button>
      ))}
    </>
  );
}

export function Playground(p: PlaygroundProps) {
  const linked = useMemo(() => fromFragment(location.hash || location.search), []);
  const [text, show] = useState(linked.text ?? sessionStorage.getItem(DRAFT) ?? EXAMPLES[0]![1]);
  const setText = (to: string) => {
    keep(to);
    show(to);
  };
  useEffect(() => keep(text), []); // of a link
  const speaking = useSpeaking(p);
  const [settings, choose] = useState<Settings>({ ...(speaking.chosen ?? defaults(p.voices)), ...linked.settings });
  const setSettings = (to: Settings) => choose((speaking.chosen = to));
  const [preview, setPreview] = useState<PreviewResult>({ typed: "", ms: 0 });
  const hovered = useSignal(-1);
  const previewer = usePreviewer(p, setPreview);
  useEffect(() => {
    if (p.mayPlay && !away.value) previewer.ask(text, settings); // viewers have no key to ask with
  }, [text, settings.enDigits, settings.raw, p.mayPlay, away.value]);

  const chars = countPoints(trimmed(text).text);
  const reason = !p.mayPlay
    ? p.t("play.viewer")
    : chars > MAX_CHARS
      ? p.t("play.error.over_limit")
      : !isSeed(settings.seed)
        ? p.t("play.seedBad")
        : isSilent(preview, text)
          ? p.t("play.error.nothing_to_say")
          : "";
  const playable = reason === "" && chars > 0;
  const play = () => playable && void speaking.play(text, settings);
  const last = speaking.takes.value[0];
  useKeys(play, () => speaking.stop());

  return (
    <div class="play">
      <div class="play-main">
        <section class="card">
          <header>
            <h2 id="play-text">{p.t("play.text")}</h2>
            <div class="play-examples hide-s" role="group" aria-label={p.t("play.examples")}>
              <Examples class="chip" choose={setText} />
            </div>
            <div class="end show-s">
              <Menu
                class="btn sm"
                label={p.t("play.examples")}
                button={
                  <>
                    {p.t("play.examples")}
                    <Icon name="down" />
                  </>
                }
              >
                {(close) => (
                  <Examples
                    choose={(example) => {
                      close();
                      setText(example);
                    }}
                  />
                )}
              </Menu>
            </div>
          </header>
          <Source
            t={p.t}
            text={text}
            preview={preview}
            chars={chars}
            hovered={hovered}
            onText={setText}
            onFocus={() => p.mayPlay && speaking.connect()}
            onComposing={(on) => {
              previewer.composing = on;
              if (!on && p.mayPlay) previewer.ask(text, settings);
            }}
          />
        </section>
        <Spoken
          t={p.t}
          preview={preview}
          chars={chars}
          mayAsk={p.mayPlay}
          hovered={hovered}
          chunk={speaking.chunk}
          copy={copy}
        />
        <section class="card play-player" aria-label={p.t("play.play")}>
          <Wave t={p.t} speaking={speaking} playable={playable} reason={reason} onPlay={play} />
          <Figures t={p.t} figures={speaking.figures} />
          <Refused t={p.t} speaking={speaking} again={play} />
          <Announced t={p.t} speaking={speaking} />
          {!isSecureContext && <p class="play-note">{p.t("play.insecure")}</p>}
        </section>
        <div class="play-files">
          {last && (
            <>
              <Files {...p} speaking={speaking} take={last} />
              <span class="xs muted num">{p.t("play.size", { kb: Math.ceil(bytesOf(last) / 1024) })}</span>
            </>
          )}
          <span class="end">
            <button
              type="button"
              class="btn ghost sm"
              onClick={() => {
                location.hash = toFragment(text, settings);
                copy(location.href);
              }}
            >
              <Icon name="copy" />
              {p.t("play.link")}
            </button>
          </span>
        </div>
        <Beneath {...p} speaking={speaking} />
      </div>
      <aside class="play-side" aria-label={p.t("play.settings")}>
        <VoiceCard t={p.t} voices={p.voices} settings={settings} onChange={setSettings} />
        <SettingsCard t={p.t} voices={p.voices} settings={settings} onChange={setSettings} takes={speaking.takes} />
        <Code t={p.t} api={p.api} text={trimmed(text).text} settings={settings} copy={copy} />
      </aside>
    </div>
  );
}

/** What has gone over the wire, and what was heard, one behind the other. What nobody sees is not drawn for each message. */
function Beneath(p: PlaygroundProps & { speaking: Speaking }) {
  const [shown, setShown] = useState<"takes" | "events">("takes");
  const all = { takes: p.speaking.takes, events: p.speaking.rows };
  return (
    <section class="card">
      <div class="tabs">
        <div class="row" role="tablist" aria-label={p.t("play.takes")}>
          {(["takes", "events"] as const).map((tab) => (
            <button
              type="button"
              role="tab"
              id={"tab-" + tab}
              aria-controls={"panel-" + tab}
              aria-selected={shown === tab}
              onClick={() => setShown(tab)}
            >
              {p.t("play." + tab)} <Count of={all[tab]} />
            </button>
          ))}
        </div>
        <Connection t={p.t} speaking={p.speaking} />
        {shown === "events" && (
          <button type="button" class="btn ghost sm" onClick={() => copy(jsonLines(p.speaking.rows.value))}>
            {p.t("play.events.copy")}
          </button>
        )}
      </div>
      <div role="tabpanel" id="panel-takes" aria-labelledby="tab-takes" hidden={shown !== "takes"}>
        <TakesList {...p} />
      </div>
      <div role="tabpanel" id="panel-events" aria-labelledby="tab-events" hidden={shown !== "events"}>
        {shown === "events" && <Events t={p.t} rows={p.speaking.rows} />}
      </div>
    </section>
  );
}

function Count({ of }: { of: ReadonlySignal<readonly unknown[]> }) {
  return <span class="faint num">{of.value.length}</span>;
}

function Connection({ t, speaking }: { t: T; speaking: Speaking }) {
  const state = speaking.socketState.value;
  return (
    <span class="end row xs muted" data-socket={state}>
      <span class={state === "open" ? "dot on" : "dot off"} />
      {t("play.socket." + state)}
    </span>
  );
}

function Refused({ t, speaking, again }: { t: T; speaking: Speaking; again(): void }) {
  const r = speaking.refused.value;
  if (!r) return null;
  return (
    <div class={r.code === "busy" ? "play-error busy" : "play-error"} role="alert">
      <p>{reasonOf(t, r)}</p>
      {speaking.retrying.value > 0 && <p>{t("play.retrying", { s: speaking.retrying.value })}</p>}
      {r.requestID && <p class="mono">{r.requestID}</p>}
      <button type="button" class="btn sm" onClick={again}>
        {t("play.again")}
      </button>
    </div>
  );
}

/** Whether the preview says that nothing of the text can be spoken. */
function isSilent(r: PreviewResult, text: string): boolean {
  return r.typed === text && r.preview?.chunks.length === 0;
}

/** What somebody hears who does not see the button: that it speaks, and how it ended. */
function Announced({ t, speaking }: { t: T; speaking: Speaking }) {
  const { state, outcome, played, figures } = speaking;
  const said = state.value === "idle" ? outcome.value : "speaking";
  const values = () => ({ s: (played.peek() / RATE).toFixed(1), n: paise(figures.peek().billedFrames ?? 0) });
  const words = useMemo(() => (said ? t("play.said." + said, values()) : ""), [said]);
  return (
    <p class="sr" role="status" data-said={said}>
      {words}
    </p>
  );
}

// Takes, figures and events stay while another page is shown, as long as the key of the project does.
const begun = new WeakMap<SocketKey, Speaking>();

function speakingWith(p: PlaygroundProps): Speaking {
  const speaking = begun.get(p.key_) ?? new Speaking(p.api, p.worklet, p.key_);
  begun.set(p.key_, speaking);
  return speaking;
}

function useSpeaking(p: PlaygroundProps): Speaking {
  const speaking = useMemo(() => speakingWith(p), [p.key_]);
  useEffect(() => {
    const warm = () => speaking.warm();
    addEventListener("pointerup", warm, { once: true });
    addEventListener("keydown", warm, { once: true });
    const hide = () => speaking.close(); // or its socket would stay with a page that the browser keeps for going back
    addEventListener("pagehide", hide);
    return () => {
      removeEventListener("pagehide", hide);
      removeEventListener("pointerup", warm);
      removeEventListener("keydown", warm);
      speaking.close();
    };
  }, [speaking]);
  return speaking;
}

function usePreviewer(p: PlaygroundProps, tell: (r: PreviewResult) => void): Previewer {
  const latest = useRef(tell);
  latest.current = tell;
  const previewer = useMemo(() => {
    const call = async (path: string, init: RequestInit, controller: AbortController) => {
      const first = await fetchWith(p.key_, p.api + path, init, { controller });
      if (first.status !== 401 || !(await p.key_.get(false))) return first;
      return fetchWith(p.key_, p.api + path, init, { controller, again: true });
    };
    return new Previewer(call, (r) => latest.current(r));
  }, [p.api]);
  useEffect(() => () => previewer.stop(), [previewer]);
  return previewer;
}

// Ctrl+Enter plays, Escape stops, wherever the focus is.
function useKeys(play: () => void, stop: () => void) {
  useLayoutEffect(() => {
    const key = (e: KeyboardEvent) => {
      if (e.isComposing || e.defaultPrevented) return;
      if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) play();
      else if (e.key === "Escape") stop();
      else return;
      e.preventDefault();
    };
    addEventListener("keydown", key);
    return () => removeEventListener("keydown", key);
  });
}
