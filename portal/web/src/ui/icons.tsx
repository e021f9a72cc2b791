// Line drawings of 16 by 16.

const PATHS = {
  play: "M2 4h12M4 4v5M7 4v9M10 4v6M13 4v3",
  home: "M2.5 7.2 8 2.6l5.5 4.6v6.3h-11z",
  key: "M8 8a3 3 0 1 1-6 0 3 3 0 0 1 6 0h6M12 8v3",
  list: "M5.5 4h8M5.5 8h8M5.5 12h8M2.5 4h.01M2.5 8h.01M2.5 12h.01",
  bars: "M2.5 13.5h11M4.5 11V7.5M8 11V3.5M11.5 11V6",
  people:
    "M8.5 5.5a2.5 2.5 0 1 1-5 0 2.5 2.5 0 0 1 5 0M1.5 13.5c0-2.6 2-4 4.5-4s4.5 1.4 4.5 4M10.6 3.2a2.5 2.5 0 0 1 0 4.6M12.6 9.9c1.2.6 1.9 1.9 1.9 3.6",
  bill: "M3.5 1.6h9v13l-2.2-1.5L8 14.6l-2.3-1.5-2.2 1.5zM6 5h4M6 8h4",
  voice: "M8 1.5a2 2 0 0 1 2 2v3.400a2 2 0 1 1-4 0V3.500a2 2 0 0 1 2-2M3.500 7.500a4.500 4.500 0 0 0 9 0M8 12v2.500",
  shield: "M8 1.5 13.500 3.500V8c0 3-2.300 5.300-5.500 6.500C4.800 13.300 2.500 11 2.500 8V3.500z",
  gear: "M10.2 8a2.200 2.200 0 1 1-4.400 0 2.200 2.200 0 0 1 4.400 0M8 1.500v2M8 12.500v2M1.500 8h2M12.500 8h2M3.400 3.400l1.400 1.400M11.200 11.200l1.400 1.400M12.600 3.400l-1.400 1.400M4.800 11.200l-1.400 1.400",
  book: "M2.5 3c2-.8 4-.8 5.500.5 1.500-1.300 3.500-1.300 5.500-.5v10c-2-.8-4-.8-5.500.5-1.500-1.300-3.500-1.300-5.500-.5zM8 3.500v10",
  down: "m4.500 6.500 3.500 3.500 3.500-3.500",
  find: "M11.500 7A4.500 4.500 0 1 1 2.500 7a4.500 4.500 0 0 1 9 0M10.500 10.500l3.500 3.500",
  plus: "M8 3v10M3 8h10",
  more: "M3.500 8h.01M8 8h.01M12.500 8h.01",
  menu: "M2.500 4.500h11M2.500 8h11M2.500 11.500h11",
  copy: "M5.500 5.500h8v8h-8zM10.500 5.500v-2a1 1 0 0 0-1-1h-6a1 1 0 0 0-1 1v6a1 1 0 0 0 1 1h2",
  tick: "m3 8.500 3.500 3.500L13 4.500",
  lock: "M3.500 7.500h9v6.500h-9zM5.500 7.500V5a2.500 2.500 0 0 1 5 0v2.500",
  dice: "M2.500 4.500a2 2 0 0 1 2-2h7a2 2 0 0 1 2 2v7a2 2 0 0 1-2 2h-7a2 2 0 0 1-2-2zM5.500 5.500h.01M10.500 5.500h.01M8 8h.01M5.500 10.500h.01M10.500 10.500h.01",
  warn: "M8 2.500 14 13H2zM8 6.500v3M8 11.300h.01",
  load: "M8 2v8M4.500 7 8 10.500 11.500 7M2.500 13.500h11",
  table: "M2.500 3h11v10h-11zM2.500 6.500h11M6.500 6.500V13",
  close: "m4 4 8 8M12 4l-8 8",
  arrow: "M3 8h10M9 4l4 4-4 4",
  print: "M4.500 6V2.500h7V6M4.500 11.500h-2V6h11v5.500h-2M4.500 9.500h7v4h-7z",
  pause: "M5.500 3.500v9M10.500 3.500v9",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class={name === "more" ? "i thick" : "i"} viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}

/** Bars that hang from a line, as letters do in Devanagari. */
export function Logo() {
  const bars = [
    [4.6, 11],
    [9.5, 18],
    [14.4, 14],
    [19.3, 20.5],
    [24.2, 9],
  ] as const;
  return (
    <svg class="logo" viewBox="0 0 32 32" aria-hidden="true">
      {bars.map(([x, height], i) => (
        <rect class={i === 2 ? "logo-mid" : "logo-bar"} x={x} y="6" width="3.2" height={height} rx="1.6" />
      ))}
      <rect class="logo-line" x="2" y="5" width="28" height="3.4" rx="1.7" />
    </svg>
  );
}

/** The same, for where there is nothing yet. */
export function Hanging() {
  const bars = [
    [4, 12],
    [11, 24],
    [18, 18],
    [25, 38],
    [32, 10],
    [39, 20],
  ] as const;
  const faint = [
    [62, 8],
    [69, 16],
    [76, 6],
    [83, 18],
    [90, 10],
    [97, 8],
  ] as const;
  return (
    <svg class="hanging" width="108" height="46" viewBox="0 0 108 46" aria-hidden="true">
      {[...bars, ...faint].map(([x, height], i) => (
        <rect class={i < bars.length ? "on" : ""} x={x} y="6" width="2.6" height={height} rx="1.3" />
      ))}
      <rect class="on" x="0" y="2" width="46" height="2.6" rx="1.3" />
      <rect x="56" y="2" width="52" height="2.6" rx="1.3" />
    </svg>
  );
}
