// The client of OpenAI for Node against a server of ours: every format, events, errors by class, cancelling.
import assert from "node:assert/strict";
import OpenAI from "openai";
import { decoded, near } from "./native.mjs";

const server = process.env.SWAR_COMPAT;
const client = (apiKey, more = {}) => new OpenAI({ baseURL: server + "/v1", apiKey, ...more });
const swar = client(process.env.SWAR_COMPAT_KEY);
const input = "Namaste! Aapka OTP 482913 hai. कल मिलेंगे।";
const speak = (fields, by = swar, options) =>
  by.audio.speech.create({ model: "tts-1", voice: "nova", input, response_format: "wav", ...fields }, options);
const bytes = async (answer) => Buffer.from(await answer.arrayBuffer());

for (const [format, magic] of [["mp3", null], ["wav", "RIFF"], ["pcm", null], ["opus", "OggS"], ["flac", "fLaC"]]) {
  const sound = await bytes(await speak({ response_format: format }));
  await near(format === "pcm" ? sound.length / 48_000 : decoded(sound), input, "anjura", format);
  if (magic) assert.equal(sound.subarray(0, 4).toString(), magic);
  if (format === "mp3") assert.equal(sound[0], 0xff);
}
await near(decoded(await bytes(await swar.audio.speech.create({ model: "tts-1", voice: "raj", input }))), input, "raj", "no format");
await near(decoded(await bytes(await speak({ speed: 1.5 }))), input, "anjura", "speed", { speed: 1.5 });

// The first audio comes long before the last.
const long = "Aapka order kal tak deliver ho jayega, total 499 rupaye hai. ".repeat(60);
const answer = await speak({ input: long, response_format: "pcm" });
const began = performance.now();
const reader = answer.body.getReader();
assert(!(await reader.read()).done);
const first = performance.now() - began;
while (!(await reader.read()).done);
assert(performance.now() - began > 3 * first, "all audio came at once");

const events = await (await speak({ response_format: "pcm", stream_format: "sse" })).text();
assert.match(events, /^data: \{"type":"speech.audio.delta"/);
assert.match(events, /"type":"speech.audio.done","usage":\{"input_tokens":42/);

const models = await swar.models.list();
assert(models.data.some((m) => m.id === "swar-1"));
assert.equal((await swar.models.retrieve("tts-1")).id, "tts-1");

for (const [kind, call, status, code] of [
  [OpenAI.AuthenticationError, () => speak({}, client("wrong")), 401, "invalid_api_key"],
  [OpenAI.PermissionDeniedError, () => speak({}, client(process.env.SWAR_COMPAT_RAJ_KEY)), 403, "voice_not_allowed"],
  [OpenAI.BadRequestError, () => speak({ voice: "kaun" }), 400, "unknown_voice"],
  [OpenAI.BadRequestError, () => speak({ input: "a".repeat(4097) }), 400, "string_too_long"],
  [OpenAI.BadRequestError, () => speak({ response_format: "aac" }), 400, "unsupported_parameter"],
  [OpenAI.BadRequestError, () => speak({ speed: 4 }), 400, "bad_speed"],
  [OpenAI.NotFoundError, () => swar.models.retrieve("nope"), 404, "model_not_found"],
]) {
  await assert.rejects(call, (e) => {
    assert(e instanceof kind, `${e}`);
    assert.deepEqual([e.status, e.code], [status, code]);
    return true;
  });
}

const leave = new AbortController();
const cut = await speak({ input: long, response_format: "pcm" }, swar, { signal: leave.signal });
await cut.body.getReader().read();
leave.abort();
const took = Date.now();
for (;;) {
  const health = await (await fetch(server + "/healthz")).json();
  if (health.workers_busy === 0 && health.listeners === 0) break;
  assert(Date.now() - took < 2000, "an aborted request is still spoken");
}
