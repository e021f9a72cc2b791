// Voice, settings and the request as code.

import type { ReadonlySignal } from "@preact/signals";
import { useRef, useState } from "preact/hooks";
import { sampleAddress } from "../lib/samples";
import { say } from "../ui/copy";
import { LANGUAGES, snippet, type Language } from "./snippets";
import { isSeed, newSeed, type Settings } from "./wire";
import type { Take } from "./takes";
import { defaults, type T } from "./index";

interface SettingsProps {
  t: T;
  voices: readonly string[];
  settings: Settings;
  takes: ReadonlySignal<readonly Take[]>;
  onChange(s: Settings): void;
}

export function SettingsCard({ t, voices, settings, takes, onChange }: SettingsProps) {
  const set = (s: Partial<Settings>) => onChange({ ...settings, ...s });
  const used = takes.value[0]?.settings.seed ?? "";
  const locked = settings.seed !== "";
  return (
    <section class="card">
      <header>
        <h2>{t("play.settings")}</h2>
        <button type="button" class="btn ghost sm end" onClick={() => onChange(defaults(voices))}>
          {t("play.reset")}
        </button>
      </header>
      <fieldset class="play-voices">
        <legend class="sr">{t("play.voice")}</legend>
        {voices.map((v) => (
          <div class="play-voice">
            <label>
              <input type="radio" name="voice" checked={settings.voice === v} onChange={() => set({ voice: v })} />
              <span class="av" aria-hidden="true">
                {[...v][0]?.toUpperCase()}
              </span>
              {v}
            </label>
            <Sample t={t} voice={v} />
          </div>
        ))}
      </fieldset>
      <label class="field">
        <span>
          {t("play.temperature")} <output class="num end">{settings.temperature.toFixed(2)}</output>
        </span>
        <input
          type="range"
          min="0"
          max="2"
          step="0.05"
          value={settings.temperature}
          onInput={(e) => set({ temperature: Number(e.currentTarget.value) })}
        />
        <span class="play-ends xs muted">
          <span>{t("play.steady")}</span>
          <span>{t("play.varied")}</span>
        </span>
      </label>
      <label class="field">
        <span>{t("play.seed")}</span>
        <input
          class="in mono num"
          inputMode="numeric"
          placeholder={used}
          value={settings.seed}
          aria-invalid={!isSeed(settings.seed)}
          onInput={(e) => set({ seed: e.currentTarget.value.trim() })}
        />
      </label>
      <div class="row">
        <button
          type="button"
          class="btn sm"
          aria-pressed={locked}
          disabled={!locked && used === ""}
          onClick={() => set({ seed: locked ? "" : used })}
        >
          {t("play.lock")}
        </button>
        <button type="button" class="btn sm" onClick={() => set({ seed: newSeed() })}>
          {t("play.newSeed")}
        </button>
      </div>
      <label class="play-switch">
        {t("play.enDigits")}{" "}
        <input
          type="checkbox"
          role="switch"
          checked={settings.enDigits}
          onChange={(e) => set({ enDigits: e.currentTarget.checked })}
        />
      </label>
      <label class="play-switch">
        {t("play.raw")}{" "}
        <input
          type="checkbox"
          role="switch"
          checked={settings.raw}
          onChange={(e) => set({ raw: e.currentTarget.checked })}
        />
      </label>
    </section>
  );
}

// The server makes samples when it has nothing else to do; viewers hear them too.
function Sample({ t, voice }: { t: T; voice: string }) {
  const audio = useRef<HTMLAudioElement>(null);
  const hear = () => audio.current?.play().catch(() => say(t("play.sample.later")));
  return (
    <>
      <audio ref={audio} src={sampleAddress(voice)} preload="none" />
      <button type="button" class="btn sm sq" aria-label={t("play.sample", { voice })} onClick={() => void hear()}>
        ▶
      </button>
    </>
  );
}

interface CodeProps {
  t: T;
  api: string;
  text: string;
  settings: Settings;
  copy(text: string): void;
}

export function Code({ t, api, text, settings, copy }: CodeProps) {
  const [language, setLanguage] = useState<Language>("curl");
  const code = snippet(language, api, text, isSeed(settings.seed) ? settings : { ...settings, seed: "" });
  return (
    <section class="card">
      <header>
        <h2>{t("play.code")}</h2>
        <button type="button" class="btn ghost sm end" onClick={() => copy(code)}>
          {t("play.copy")}
        </button>
      </header>
      <div class="seg" role="group" aria-label={t("play.code")}>
        {LANGUAGES.map((l) => (
          <button type="button" aria-pressed={l === language} onClick={() => setLanguage(l)}>
            {l}
          </button>
        ))}
      </div>
      <pre class="code" tabIndex={0} role="region" aria-label={language}>
        {code}
      </pre>
    </section>
  );
}
