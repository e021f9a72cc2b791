// A long list of rows of one height: only those in sight are in the document.

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

interface RowsProps {
  count: number;
  height: number; // of a row, px
  row(i: number): ComponentChildren;
  label: string;
  onEnd?(): void; // the last row came near
}

const BEYOND = 6; // rows above and below what is seen

export function Rows({ count, height, row, label, onEnd }: RowsProps) {
  const box = useRef<HTMLDivElement>(null);
  const [seen, setSeen] = useState({ first: 0, last: 20 });
  const look = () => {
    const el = box.current;
    if (!el) return;
    const first = Math.max(0, Math.floor(el.scrollTop / height) - BEYOND);
    const last = Math.ceil((el.scrollTop + el.clientHeight) / height) + BEYOND;
    setSeen((s) => (s.first === first && s.last === last ? s : { first, last }));
    if (last >= count) onEnd?.();
  };
  useEffect(look, [count]);
  useEffect(() => {
    addEventListener("resize", look);
    return () => removeEventListener("resize", look);
  });
  const from = Math.min(seen.first, Math.max(0, count - 1));
  const until = Math.min(seen.last, count);
  return (
    <div class="rows" ref={box} tabIndex={0} role="region" aria-label={label} onScroll={look}>
      <div style={{ height: from * height + "px" }} />
      {Array.from({ length: Math.max(0, until - from) }, (_, i) => row(from + i))}
      <div style={{ height: (count - until) * height + "px" }} />
    </div>
  );
}
