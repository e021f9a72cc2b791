// The page of the playground, with or without a portal around it.

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Icon } from "./ui/icons";
import { useEvery } from "./ui/load";
import { PlaygroundKey } from "./play/key";
import { Head } from "./ui/parts";
import { language } from "./lib/language";
import { api } from "./lib/here";
import { Playground } from "./play/index";
import type { T } from "./play/settings";
import type { SocketKey } from "./play/socket";
import { t } from "./play/words";

const worklet = document.documentElement.dataset.worklet!;

function KeyLeft({ of }: { of: PlaygroundKey }) {
  const [left, setLeft] = useState(0);
  const look = () => setLeft(Math.round(of.leftMs() / 60_000));
  useEffect(look, [of]);
  useEvery(5000, look);
  return (
    <span class={left > 0 ? "chip key-left" : "chip key-left none"}>
      <Icon name="key" />
      {t("play.browserKey", { h: Math.floor(left / 60), min: left % 60 })}
    </span>
  );
}

export function Playing({
  key_,
  voices,
  mayPlay,
  of,
  shortcuts,
  project,
}: {
  key_: SocketKey;
  voices: readonly string[];
  mayPlay: boolean;
  of?: string | undefined;
  shortcuts?(): void; // shows the list of keys
  project?: ComponentChildren; // the choice of it, where there are several
}) {
  void language.value; // the words below read it, too
  return (
    <>
      <Head title={t("play.title")} lead={t("play.lead")} of={of}>
        {project}
        {key_ instanceof PlaygroundKey && <KeyLeft of={key_} />}
        {shortcuts && (
          <button type="button" class="btn ghost sm hide-s" onClick={shortcuts}>
            {t("play.shortcuts")} <kbd>?</kbd>
          </button>
        )}
      </Head>
      <Playground t={t as T} api={api} worklet={worklet} key_={key_} voices={voices} mayPlay={mayPlay} />
    </>
  );
}
