// What the native API speaks, to compare with: the length of audio that came by another one.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";

const made = new Map();

/** The seconds of the shortest and of the longest of 60 takes: voices of espeak-ng vary by two frames. */
async function takes(text, voice) {
  const key = voice + text;
  if (!made.has(key)) {
    const lengths = [];
    for (let seed = 0; seed < 60; seed++) {
      const answer = await fetch(process.env.SWAR_COMPAT + "/v1/tts", {
        method: "POST",
        headers: { "content-type": "application/json", "x-api-key": process.env.SWAR_COMPAT_KEY },
        body: JSON.stringify({ text, voice, format: "pcm16", seed }),
      });
      lengths.push((await answer.arrayBuffer()).byteLength / 48_000);
    }
    made.set(key, [Math.min(...lengths), Math.max(...lengths)]);
  }
  return made.get(key);
}

const rounding = 1e-5; // less than a sample: callers add up floating-point lengths of frames

/** The same of a text that comes in pieces: any number of its sentences may be spoken together, and then the others. */
async function cuts(text, voice) {
  let [low, high] = await takes(text, voice);
  for (const end of text.matchAll(/[.!?।] /g)) {
    const at = end.index + 2;
    const [first, rest] = [await takes(text.slice(0, at), voice), await cuts(text.slice(at), voice)];
    [low, high] = [Math.min(low, first[0] + rest[0]), Math.max(high, first[1] + rest[1])];
  }
  return [low, high];
}

/** Asserts that audio is as long as a take of the native API, within 80 ms; with pieces, as takes of its sentences. */
export async function near(seconds, text, voice, what = "", { speed = 1, pieces = false } = {}) {
  const [low, high] = (await (pieces ? cuts : takes)(text, voice)).map((s) => s / speed);
  assert(low - 0.08 - rounding <= seconds && seconds <= high + 0.08 + rounding, `${what}: ${seconds} s, natively ${low} to ${high}`);
}

/** The seconds that ffmpeg decodes of a file or a stream. */
export function decoded(audio) {
  const args = ["-v", "error", "-i", "-", "-f", "s16le", "-ac", "1", "-ar", "24000", "-"];
  const { status, stdout, stderr } = spawnSync("ffmpeg", args, { input: audio, maxBuffer: 1 << 28 });
  assert.equal(status, 0, `${stderr}`);
  return stdout.length / 48_000;
}
