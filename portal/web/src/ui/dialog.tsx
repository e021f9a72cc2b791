// Dialogs on <dialog>, which keeps the focus inside and gives it back.

import type { ComponentChildren } from "preact";
import { useEffect, useId, useLayoutEffect, useRef } from "preact/hooks";
import { focusHead } from "./focus";
import { Icon } from "./icons";
import type { Action } from "./load";
import { Go, Wrong } from "./parts";
import { dialogs, Toast } from "./toast";
import { t } from "./words";

interface DialogProps {
  title: string;
  lead?: string;
  onClose(): void;
  /** Whether it may be closed now; asked before Escape, the cross and a click beside it close it. */
  mayClose?(): boolean;
  drawer?: boolean; // at the side, over the page
  children: ComponentChildren;
}

// What had the focus when the last dialog opened; a dialog in the place of another gives the focus back to it, too.
let opener: Element | null = null;

export function Dialog({ title, lead, onClose, mayClose = () => true, drawer, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  const back = useRef<Element | null>(null);
  // Before the first paint: a key pressed once the dialog is seen must reach it.
  useLayoutEffect(() => {
    if (document.activeElement !== document.body) opener = document.activeElement;
    back.current = opener;
    dialog.current?.showModal();
    dialogs.value++;
    dialog.current?.querySelector<HTMLElement>("[data-focus]")?.focus(); // else the cross has it
    return () => {
      dialogs.value--;
    };
  }, []);
  // After the paint: only then is it gone, and the focus with it.
  useEffect(
    () => () => {
      if (document.activeElement !== document.body) return;
      if (back.current instanceof HTMLElement) back.current.focus();
      if (document.activeElement === document.body) focusHead(); // it is gone or disabled, or nothing had the focus
    },
    [],
  );
  const close = (e: Event) => {
    e.preventDefault();
    if (mayClose()) onClose();
  };
  // A browser asks onCancel only once without a click between: a second Escape would close at once.
  const pressed = useRef(false); // a key since the dialog has been open
  const key = (e: KeyboardEvent) => {
    pressed.current ||= !e.repeat;
    if (e.key === "Escape" && !e.defaultPrevented && !e.isComposing) close(e);
  };
  // A link opens it at keydown; the keypress of the same Enter would press the cross, which has the focus by then.
  const press = (e: KeyboardEvent) => {
    if (e.key === "Enter" && !pressed.current) e.preventDefault();
  };
  return (
    <dialog
      class={drawer ? "dlg drawer" : "dlg"}
      ref={dialog}
      aria-labelledby={id}
      onCancel={close}
      onKeyDown={key}
      onKeyPress={press}
      onClose={onClose}
      onClick={(e) => e.target === dialog.current && close(e)}
    >
      <div class="dh">
        <div class="grow">
          <h2 id={id}>{title}</h2>
          {lead && <p class="small muted">{lead}</p>}
        </div>
        <button type="button" class="btn ghost sm sq" aria-label={t("close")} onClick={close}>
          <Icon name="close" />
        </button>
      </div>
      {children}
      <Toast inDialog />
    </dialog>
  );
}

/** A form in a dialog: Enter sends it. */
export function Form({ onSend, children }: { onSend(): unknown; children: ComponentChildren }) {
  return (
    <form
      class="form"
      noValidate
      onSubmit={(e) => {
        e.preventDefault();
        void onSend();
      }}
    >
      {children}
    </form>
  );
}

interface FormDialogProps {
  title: string;
  lead?: string;
  action: Action;
  label: string; // of the button that sends it
  ready?: boolean; // whether it may be sent
  danger?: boolean;
  onClose(): void;
  children: ComponentChildren;
}

/** A form in a dialog of its own, which ends with what went wrong, Cancel and the button that sends it. */
export function FormDialog({ title, lead, action, label, ready = true, danger, onClose, children }: FormDialogProps) {
  return (
    <Dialog title={title} lead={lead} onClose={onClose}>
      <Form onSend={() => ready && action.go()}>
        {children}
        <Wrong of={action} />
        <div class="row">
          <span class="end row">
            <button type="button" class="btn" onClick={onClose}>
              {t("cancel")}
            </button>
            <Go of={action} label={label} disabled={!ready} danger={danger} />
          </span>
        </div>
      </Form>
    </Dialog>
  );
}
