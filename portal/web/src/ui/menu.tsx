// A button that opens a short list of things to do.

import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { focusHead } from "./focus";

interface MenuProps {
  label: string; // what it is for
  button: ComponentChildren;
  named?: boolean; // the button has a text of its own, and the label stands behind it
  class?: string;
  up?: boolean; // opens above the button
  children(close: () => void): ComponentChildren;
}

export function Menu({ label, button, named, class: name = "btn ghost sm sq", up, children }: MenuProps) {
  const [open, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const opener = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => {
    if (open) items(box.current)[0]?.focus(); // before a click on an item closes it again
  }, [open]);
  useEffect(() => {
    if (!open) return;
    const outside = (e: Event) => {
      if (!(e.target instanceof Node) || !box.current?.contains(e.target)) setOpen(false);
    };
    addEventListener("pointerdown", outside);
    addEventListener("focusin", outside);
    return () => {
      removeEventListener("pointerdown", outside);
      removeEventListener("focusin", outside);
    };
  }, [open]);
  useLayoutEffect(() => {
    const whole = box.current;
    return () => {
      if (whole?.contains(document.activeElement)) focusHead(); // its row is gone, and the focus would be with it
    };
  }, []);
  const key = (e: KeyboardEvent) => {
    const all = items(box.current);
    const at = all.indexOf(document.activeElement as HTMLElement);
    if (e.key === "Escape" && open) close();
    else if (e.key === "ArrowDown" && open) all[(at + 1) % all.length]?.focus();
    else if (e.key === "ArrowUp" && open) all[(at - 1 + all.length) % all.length]?.focus();
    else return;
    e.preventDefault();
    e.stopPropagation();
  };
  const close = () => {
    setOpen(false);
    opener.current?.focus();
  };
  return (
    <div class="menu" ref={box} onKeyDown={key}>
      <button
        type="button"
        class={name}
        ref={opener}
        aria-label={named ? undefined : label}
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        {button}
        {named && <span class="sr">, {label}</span>}
      </button>
      {open && (
        <div class={up ? "menu-list up" : "menu-list"} role="group" aria-label={label}>
          {children(close)}
        </div>
      )}
    </div>
  );
}

const items = (box: HTMLElement | null) => [
  ...(box?.querySelectorAll<HTMLElement>(".menu-list a, .menu-list button:not(:disabled)") ?? []),
];
