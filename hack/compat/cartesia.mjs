// The client of Cartesia for Node against a server of ours. Its socket needs TLS, so that only requests are tried.
import assert from "node:assert/strict";
import Cartesia from "@cartesia/cartesia-js";
import { decoded, near } from "./native.mjs";

const client = (apiKey) => new Cartesia({ apiKey, baseURL: process.env.SWAR_COMPAT, maxRetries: 0 });
const swar = client(process.env.SWAR_COMPAT_KEY);
const transcript = "Namaste! Aapka OTP 482913 hai. कल मिलेंगे।";
const raw = { container: "raw", encoding: "pcm_s16le", sample_rate: 24000 };
const voice = { mode: "id", id: "f786b574-daa5-4673-aa0c-cbe3e8534c02" };
const sound = async (fields, by = swar) => {
  const answer = await by.tts.generate({ model_id: "sonic-3", transcript, voice, output_format: raw, ...fields });
  return Buffer.from(await answer.arrayBuffer());
};

await near((await sound({})).length / 48000, transcript, "anjura", "raw");
const wav = await sound({ output_format: { ...raw, container: "wav" } });
await near(decoded(wav), transcript, "anjura", "wav");
for (const sample_rate of [8000, 16000, 24000, 44100]) {
  const mp3 = await sound({ output_format: { container: "mp3", sample_rate, bit_rate: 64000 } });
  await near(decoded(mp3), transcript, "anjura", `mp3 at ${sample_rate} Hz`);
}

const names = [];
for await (const v of swar.voices.list()) names.push(v.id);
assert.deepEqual(names.slice(0, 2), ["anjura", "raj"]);
assert.equal(new Set(names).size, names.length, "the list has no end");

for (const [kind, fields, key] of [
  [Cartesia.AuthenticationError, {}, "wrong"],
  [Cartesia.PermissionDeniedError, {}, process.env.SWAR_COMPAT_RAJ_KEY],
  [Cartesia.BadRequestError, { voice: { mode: "id", id: "kaun" } }],
  [Cartesia.BadRequestError, { transcript: "a".repeat(4001) }],
]) {
  await assert.rejects(() => sound(fields, key ? client(key) : swar), (e) => e instanceof kind || assert.fail(`${e}`));
}
