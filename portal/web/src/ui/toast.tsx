// The sentence that shows for a moment. An open dialog shows it itself: what lies outside of it is dimmed, and read out by nobody.

import { signal } from "@preact/signals";
import { toast } from "./copy";

/** How many dialogs are open. */
export const dialogs = signal(0);

export function Toast({ inDialog }: { inDialog?: boolean }) {
  const text = inDialog || dialogs.value === 0 ? toast.value : "";
  return (
    <p class={text ? "toast on" : "toast"} role="status">
      {text}
    </p>
  );
}
