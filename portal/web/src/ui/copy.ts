// Copying and files.

import { signal } from "@preact/signals";
import { t } from "./words";

/** A sentence that shows for a moment, such as that something was copied. */
export const toast = signal("");
let timer = 0;

export function say(text: string) {
  toast.value = text;
  clearTimeout(timer);
  timer = window.setTimeout(() => (toast.value = ""), 4000);
}

/** Copies; pages without TLS have no clipboard, so the text is selected in a field for Ctrl+C. Says whether it is copied already. */
export async function copy(text: string): Promise<boolean> {
  const done = await navigator.clipboard?.writeText(text).then(
    () => true,
    () => false,
  );
  if (done) {
    say(t("copied"));
    return true;
  }
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "copy-field";
  field.readOnly = true;
  field.setAttribute("aria-label", t("copyHere"));
  (document.querySelector("dialog[open]") ?? document.body).append(field); // a dialog lets nothing outside have the focus
  field.select();
  field.onblur = () => field.remove();
  field.oncopy = () =>
    setTimeout(() => {
      field.remove();
      say(t("copied"));
    });
  say(t("copyHere"));
  return false;
}

export function saveFile(content: Blob, name: string) {
  const a = document.createElement("a");
  a.href = URL.createObjectURL(content);
  a.download = name;
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 60_000);
}
