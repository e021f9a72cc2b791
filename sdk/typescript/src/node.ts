/** What needs files. */

import { randomBytes } from "node:crypto";
import { open, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { wavHeader, withLengths } from "./take.js";

/** Writes audio into a file, which appears when it is complete. A WAV states its length then. */
export async function save(audio: AsyncIterable<Uint8Array>, path: string): Promise<void> {
  const part = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString("hex")}.part`);
  const file = await open(part, "wx+");
  try {
    let size = 0;
    for await (const piece of audio) {
      await file.writeFile(piece); // all of it, at the file's own position
      size += piece.length;
    }
    const head = new Uint8Array(Math.min(size, wavHeader));
    await file.read(head, 0, head.length, 0);
    await file.write(withLengths(head, size), 0, head.length, 0);
    await file.close();
    await rename(part, path);
  } catch (e) {
    await file.close().catch(() => {});
    await rm(part, { force: true });
    throw e;
  }
}
