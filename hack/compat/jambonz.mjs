// The speech of jambonz, its own code, against a server of ours. What it would keep in Redis is kept nowhere.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { near } from "./native.mjs";

process.env.JAMBONES_TMP_FOLDER = mkdtempSync(path.join(tmpdir(), "jambonz-"));
const synthAudio = createRequire(import.meta.url)("@jambonz/speech-utils/lib/synth-audio.js");
const noop = () => {};
const client = { get: async () => null, setex: async () => {}, expire: async () => {} };
const stats = { increment: noop, histogram: noop };
const logger = { info: noop, error: noop, debug: noop };

const speak = (fields) => {
  const { key = process.env.SWAR_COMPAT_KEY, ...rest } = fields;
  return synthAudio(client, noop, noop, logger, stats, {
    vendor: "custom:swar", language: "hi-IN", voice: "anjura", text: "Namaste! Aapka OTP 482913 hai. कल मिलेंगे।", renderForCaching: true,
    credentials: { vendor: "custom", auth_token: key, custom_tts_url: process.env.SWAR_COMPAT + "/v1/jambonz" },
    ...rest,
  });
};

const { filePath } = await speak({});
assert.match(filePath, /\.r24$/, "it is not taken for samples at 24 kHz");
const sound = readFileSync(filePath);
assert(sound.length % 3840 === 0, `${sound.length} bytes`);
await near(sound.length / 48_000, "Namaste! Aapka OTP 482913 hai. कल मिलेंगे।", "anjura", "a request");
assert.notEqual(sound.subarray(0, 4).toString(), "RIFF");
assert(readFileSync((await speak({ text: "<speak>Namaste.<break time='1s'/>Ji.</speak>" })).filePath).length > 48_000, "SSML");
for (const [status, fields] of [
  [401, { key: "wrong" }],
  [403, { key: process.env.SWAR_COMPAT_RAJ_KEY }],
  [400, { voice: "kaun" }],
  [400, { text: "<speak><audio src='x'/></speak>" }],
  [413, { text: "a".repeat(4001) }],
]) {
  await assert.rejects(() => speak(fields), (e) => e.statusCode === status, `${status}`);
}
