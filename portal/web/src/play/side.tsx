// Voice, settings and the request as code.

import type { ReadonlySignal } from "@preact/signals";
import { useRef, useState } from "preact/hooks";
import { sampleAddress } from "../lib/samples";
import { say } from "../ui/copy";
import { Icon } from "../ui/icons";
import { LANGUAGES, snippet, type Language } from "./snippets";
import { isSeed, newSeed, type Settings } from "./wire";
import type { Take } from "./takes";
import { defaults, type T } from "./settings";

interface SettingsProps {
  t: T;
  voices: readonly string[];
  settings: Settings;
  takes: ReadonlySignal<readonly Take[]>;
  onChange(s: Settings): void;
}

export function VoiceCard({ t, voices, settings, onChange }: Omit<SettingsProps, "takes">) {
  return (
    <section class="card">
      <header>
        <h2 id="play-voice">{t("play.voice")}</h2>
      </header>
      <div class="play-voices" role="radiogroup" aria-labelledby="play-voice">
        {voices.map((voice) => (
          <div class="play-voice">
            <label>
              <input
                type="radio"
                name="voice"
                checked={settings.voice === voice}
                onChange={() => onChange({ ...settings, voice })}
              />
              <span class="av" aria-hidden="true">
                {[...voice][0]?.toUpperCase()}
              </span>
              {voice}
            </label>
            <Sample t={t} voice={voice} />
          </div>
        ))}
      </div>
    </section>
  );
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
      <div class="field">
        <label for="play-seed">{t("play.seed")}</label>
        <div class="play-seed">
          <input
            id="play-seed"
            class="in mono num"
            inputMode="numeric"
            placeholder={used}
            value={settings.seed}
            aria-invalid={!isSeed(settings.seed)}
            onInput={(e) => set({ seed: e.currentTarget.value.trim() })}
          />
          <button
            type="button"
            class="btn sq"
            title={t("play.lock")}
            aria-label={t("play.lock")}
            aria-pressed={locked}
            disabled={!locked && used === ""}
            onClick={() => set({ seed: locked ? "" : used })}
          >
            <Icon name="lock" />
          </button>
          <button
            type="button"
            class="btn sq"
            title={t("play.newSeed")}
            aria-label={t("play.newSeed")}
            onClick={() => set({ seed: newSeed() })}
          >
            <Icon name="dice" />
          </button>
        </div>
      </div>
      {(["enDigits", "raw"] as const).map((name) => (
        <label class="play-switch">
          <span>
            <b>{t("play." + name)}</b>
            <span class="xs muted">{t(`play.${name}.what`)}</span>
          </span>
          <input
            type="checkbox"
            role="switch"
            checked={settings[name]}
            onChange={(e) => set({ [name]: e.currentTarget.checked })}
          />
        </label>
      ))}
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
          <Icon name="copy" />
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
