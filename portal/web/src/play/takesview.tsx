// The last takes: hear one again, compare two (keys A and B), and files.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { singleKeys } from "../lib/choices";
import { fetchWith, isAborted } from "./key";
import { pcmOf, save, wavOf, type Take } from "./takes";
import { body } from "./wire";
import { refusal, UNREACHED } from "./preview";
import { Icon } from "../ui/icons";
import type { PlaygroundProps } from "./settings";
import type { Speaking } from "./speaking";

interface Props extends PlaygroundProps {
  speaking: Speaking;
}

export function TakesList({ t, api, key_, speaking, mayPlay }: Props) {
  const takes = speaking.takes.value;
  const [pair, setPair] = useState<readonly [string, string]>(["", ""]);
  usePairKeys(speaking, pair);
  if (takes.length === 0) return <p class="play-empty">{t("play.takes.empty")}</p>;
  const mark = (i: 0 | 1, id: string) => setPair(([a, b]) => (i === 0 ? [id, b] : [a, id]));
  return (
    <ul class="play-takes">
      {takes.map((take) => (
        <li key={take.id}>
          <button
            type="button"
            class="btn sm sq"
            aria-label={t("play.replay", { n: take.number })}
            onClick={() => void speaking.replay(take)}
          >
            ▶
          </button>
          {(["A", "B"] as const).map((name, i) => (
            <button
              type="button"
              class="btn sm sq"
              aria-pressed={pair[i] === take.id}
              onClick={() => mark(i as 0 | 1, take.id)}
            >
              {name}
            </button>
          ))}
          <span class="grow">
            {[...take.text].slice(0, 60).join("")}
            <br />
            <span class="xs muted mono">
              {take.settings.voice} · {take.settings.seed}
            </span>
          </span>
          <Files t={t} api={api} key_={key_} mayPlay={mayPlay} speaking={speaking} take={take} />
        </li>
      ))}
    </ul>
  );
}

/** A take as files. Opus is another request, and says so. */
export function Files({
  t,
  api,
  key_,
  mayPlay,
  speaking,
  take,
}: Pick<Props, "t" | "api" | "key_" | "mayPlay" | "speaking"> & { take: Take }) {
  const files = [
    { what: "WAV", get: () => save(wavOf(take), name(take, "wav")) },
    { what: "PCM", get: () => save(pcmOf(take), name(take, "pcm")) },
    { what: "Opus", get: () => void opus(api, key_, take, speaking), off: !mayPlay, title: t("play.opus") },
  ];
  return (
    <>
      {files.map(({ what, get, off, title }) => (
        <button
          type="button"
          class="btn sm"
          aria-label={t("play.download", { what })}
          title={title}
          disabled={off}
          onClick={get}
        >
          <Icon name="load" />
          {what}
        </button>
      ))}
    </>
  );
}

function name(t: Take, ending: string): string {
  return `swar-${t.settings.voice}-${t.settings.seed}.${ending}`;
}

// The page has samples only, so Opus is asked for anew; the same seed makes the same audio.
async function opus(api: string, key: PlaygroundProps["key_"], t: Take, speaking: Speaking) {
  try {
    const asked = body(t.text, t.settings, { format: "opus", stream: false });
    const r = await fetchWith(key, api + "/v1/tts", { method: "POST", body: asked });
    if (r.ok) save(await r.blob(), name(t, "opus"));
    else speaking.refused.value = await refusal(r);
  } catch (err) {
    if (!isAborted(err)) speaking.refused.value = UNREACHED;
  }
}

function usePairKeys(speaking: Speaking, pair: readonly [string, string]) {
  const latest = useRef(pair);
  latest.current = pair;
  useLayoutEffect(() => {
    const key = (e: KeyboardEvent) => {
      const at = ["a", "b"].indexOf(e.key);
      const typing = e.target instanceof HTMLElement && e.target.closest("input, textarea, select");
      if (at < 0 || typing || e.ctrlKey || e.metaKey || e.altKey || e.defaultPrevented) return;
      if (!singleKeys.value || document.querySelector("dialog[open]")) return;
      const take = speaking.takes.value.find((t) => t.id === latest.current[at]);
      if (take) void speaking.replay(take);
    };
    addEventListener("keydown", key);
    return () => removeEventListener("keydown", key);
  }, [speaking]);
}
