// Voice, settings and the request as code.

import type { ReadonlySignal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { LANGUAGES, snippet, type Language } from "./snippets";
import { isSeed, newSeed, type Settings } from "./wire";
import type { Take } from "./takes";
import { defaults, type T } from "./index";

interface SettingsProps {
  t: T;
  voices: readonly string[];
  settings: Settings;
  takes: ReadonlySignal<readonly Take[]>;
  api: string;
  onChange(s: Settings): void;
}

export function SettingsCard({ t, voices, settings, takes, api, onChange }: SettingsProps) {
  const set = (s: Partial<Settings>) => onChange({ ...settings, ...s });
  const used = takes.value[0]?.settings.seed ?? "";
  const locked = settings.seed !== "";
  return (
    <section class="card">
      <header><h2>{t("play.settings")}</h2><button type="button" class="btn ghost sm end" onClick={() => onChange(defaults(voices))}>{t("play.reset")}</button></header>
      <fieldset class="play-voices"><legend>{t("play.voice")}</legend>
        {voices.map((v) => (
          <div class="row">
            <label><input type="radio" name="voice" checked={settings.voice === v} onChange={() => set({ voice: v })} /> {v}</label>
            <Sample t={t} api={api} voice={v} />
          </div>
        ))}
      </fieldset>
      <label class="field"><span>{t("play.temperature")} <output class="num end">{settings.temperature.toFixed(2)}</output></span>
        <input type="range" min="0" max="2" step="0.05" value={settings.temperature} onInput={(e) => set({ temperature: Number(e.currentTarget.value) })} /></label>
      <label class="field"><span>{t("play.seed")}</span>
        <input class="in mono num" inputMode="numeric" placeholder={used} value={settings.seed} aria-invalid={!isSeed(settings.seed)} onInput={(e) => set({ seed: e.currentTarget.value.trim() })} /></label>
      <div class="row">
        <button type="button" class="btn sm" aria-pressed={locked} disabled={!locked && used === ""} onClick={() => set({ seed: locked ? "" : used })}>{t("play.lock")}</button>
        <button type="button" class="btn sm" onClick={() => set({ seed: newSeed() })}>{t("play.newSeed")}</button>
      </div>
      <label class="play-switch"><input type="checkbox" role="switch" checked={settings.enDigits} onChange={(e) => set({ enDigits: e.currentTarget.checked })} /> {t("play.enDigits")}</label>
      <label class="play-switch"><input type="checkbox" role="switch" checked={settings.raw} onChange={(e) => set({ raw: e.currentTarget.checked })} /> {t("play.raw")}</label>
    </section>
  );
}

// Samples appear once the server has made them; viewers hear them too.
function Sample({ t, api, voice }: { t: T; api: string; voice: string }) {
  const audio = useRef<HTMLAudioElement>(null);
  const [there, setThere] = useState(false);
  const address = `${api}/samples/${encodeURIComponent(voice)}.wav`;
  useEffect(() => {
    void fetch(address, { method: "HEAD" }).then((r) => setThere(r.ok), () => setThere(false));
  }, [address]);
  if (!there) return null;
  return <><audio ref={audio} src={address} preload="none" /><button type="button" class="btn sm sq" aria-label={t("play.sample", { voice })} onClick={() => void audio.current?.play()}>▶</button></>;
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
      <header><h2>{t("play.code")}</h2><button type="button" class="btn ghost sm end" onClick={() => copy(code)}>{t("play.copy")}</button></header>
      <div class="seg" role="group" aria-label={t("play.code")}>
        {LANGUAGES.map((l) => <button type="button" aria-pressed={l === language} onClick={() => setLanguage(l)}>{l}</button>)}
      </div>
      <pre class="code" tabIndex={0} role="region" aria-label={language}>{code}</pre>
    </section>
  );
}
