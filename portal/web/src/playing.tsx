// The page of the playground, with or without a portal around it.

import { Head } from "./ui/parts";
import { language } from "./lib/language";
import { api } from "./lib/here";
import { Playground, type T } from "./play/index";
import type { SocketKey } from "./play/socket";
import { t } from "./play/words";

const worklet = document.documentElement.dataset.worklet!;

export function Playing({ key_, voices, mayPlay, of }: { key_: SocketKey; voices: readonly string[]; mayPlay: boolean; of?: string | undefined }) {
  void language.value; // the words below read it, too
  return (
    <>
      <Head title={t("play.title")} lead={t("play.lead")} of={of} />
      <Playground t={t as T} api={api} worklet={worklet} key_={key_} voices={voices} mayPlay={mayPlay} />
    </>
  );
}
