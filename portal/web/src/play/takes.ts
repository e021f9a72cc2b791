// The last takes of this tab, with their audio, until the tab is closed.

import { RATE } from "./queue";
import type { Figures } from "./figures";
import type { Settings } from "./wire";

export const MAX_TAKES = 20;
export const MAX_BYTES = 64 << 20;

export interface Take {
  id: string; // request_id
  number: number; // counts from 1 in this tab
  text: string;
  settings: Settings; // with the seed that was used
  figures: Figures;
  stopped: boolean;
  blocks: ArrayBuffer[];
  chunkStarts: number[]; // in samples
}

export function bytesOf(t: Take): number {
  return t.blocks.reduce((n, b) => n + b.byteLength, 0);
}

/** The newest first; as many as may be kept. The newest is kept whatever its size. */
export function kept(takes: readonly Take[]): Take[] {
  let left = MAX_BYTES;
  return takes.slice(0, MAX_TAKES).filter((t, i) => {
    left -= bytesOf(t);
    return i === 0 || left >= 0;
  });
}

export function pcmOf(t: Take): Blob {
  return new Blob(t.blocks, { type: "application/octet-stream" });
}

/** A WAV file: 44 bytes of header, as the server writes it for an answer whose length it knows, and the samples. */
export function wavOf(t: Take): Blob {
  return new Blob([wavHeader(bytesOf(t)), ...t.blocks], { type: "audio/wav" });
}

export function wavHeader(bytes: number): ArrayBuffer {
  const header = new ArrayBuffer(44);
  const v = new DataView(header);
  const name = (at: number, s: string) => [...s].forEach((c, i) => v.setUint8(at + i, c.charCodeAt(0)));
  name(0, "RIFF");
  v.setUint32(4, 36 + bytes, true);
  name(8, "WAVEfmt ");
  v.setUint32(16, 16, true); // length of this part
  v.setUint16(20, 1, true); // plain samples
  v.setUint16(22, 1, true); // mono
  v.setUint32(24, RATE, true);
  v.setUint32(28, RATE * 2, true);
  v.setUint16(32, 2, true);
  v.setUint16(34, 16, true);
  name(36, "data");
  v.setUint32(40, bytes, true);
  return header;
}

/** Hands a file to the browser's downloads. */
export function save(file: Blob, name: string) {
  const a = document.createElement("a");
  a.href = URL.createObjectURL(file);
  a.download = name;
  a.click();
  window.setTimeout(() => URL.revokeObjectURL(a.href), 60_000); // a slow disk still reads it
}
