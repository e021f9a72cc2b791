// The table of cases of all clients, a fed utterance and a cancel, in whatever runs this.
import { readFileSync } from "node:fs";
import process from "node:process";
import * as all from "@swar/client";

const { Swar } = all;
const baseUrl = process.env.SWAR_COMPAT;
const keys = { good: process.env.SWAR_COMPAT_KEY, "only-raj": process.env.SWAR_COMPAT_RAJ_KEY };
const name = globalThis.Bun ? `Bun ${globalThis.Bun.version}` : globalThis.Deno ? `Deno ${globalThis.Deno.version.deno}` : "Node";
const check = (ok, what) => {
  if (!ok) throw new Error(`${name}: ${what}`);
};

const cases = JSON.parse(readFileSync(new URL("cases.json", import.meta.url), "utf8"));
for (const { name: of, key = "good", request, seconds, error } of cases) {
  const { repeat = 1, text, ...more } = request;
  const swar = new Swar({ baseUrl, apiKey: keys[key] ?? key });
  try {
    const length = (await (await swar.speak({ text: text.repeat(repeat), ...more })).bytes()).length / 48000;
    check(!error && length >= seconds[0] && length <= seconds[1], `${of}: ${length} s`);
  } catch (e) {
    check(error && e instanceof all[error.class] && e.status === error.status && e.code === error.code, `${of}: ${e}`);
  }
}

const swar = new Swar({ baseUrl, apiKey: keys.good });
const socket = await swar.connect();
const u = socket.utterance({ timestamps: "words" });
for (const piece of "Namaste! Aapka OTP 407 hai। धन्यवाद।") u.append(piece);
u.finish();
let bytes = 0;
let words = 0;
for await (const e of u) {
  if (e.type === "audio") bytes += e.pcm.byteLength;
  if (e.type === "words") words += e.words.length;
}
check(bytes > 48000 && words > 4, `${bytes} bytes and ${words} words`);

const long = socket.say("Aapka order kal tak deliver ho jayega. ".repeat(80));
let heard = 0;
for await (const e of long) if (e.type === "audio" && ++heard === 1) long.clear();
check(long.cancelled?.billed_frames > 0, "an utterance that was cleared is not cancelled");
socket.close();
console.log(`${name}: ${cases.length} cases, ${(bytes / 48000).toFixed(1)} s fed, ${long.cancelled.billed_frames} frames of a cancel`);
process.exit(0);
