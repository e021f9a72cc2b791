// The client of ElevenLabs for Node against a server of ours: formats, times, lists, sockets, errors by class, cancelling.
import assert from "node:assert/strict";
import * as sdk from "@elevenlabs/elevenlabs-js";
import WebSocket from "ws";
import { decoded, near } from "./native.mjs";

const server = process.env.SWAR_COMPAT;
const client = (apiKey) => new sdk.ElevenLabsClient({ baseUrl: server, apiKey, maxRetries: 0 });
const swar = client(process.env.SWAR_COMPAT_KEY);
const text = "Namaste! Aapka OTP 482913 hai. कल मिलेंगे।";
const long = "Aapka order kal tak deliver ho jayega, total 499 rupaye hai. ".repeat(60);
const bytes = async (answer) => {
  const parts = [];
  for await (const part of answer) parts.push(part);
  return Buffer.concat(parts);
};

const pcm = await bytes(await swar.textToSpeech.convert("anjura", { text, seed: 7, outputFormat: "pcm_24000" }));
await near(pcm.length / 48000, text, "anjura", "pcm");
for (const [outputFormat, ratio] of [
  [undefined, 0],
  ["mp3_22050_32", 0],
  ["mp3_24000_48", 0],
  ["mp3_44100_192", 0],
  ["pcm_8000", 1 / 3],
  ["pcm_16000", 2 / 3],
  ["pcm_44100", 44100 / 24000],
  ["pcm_48000", 2],
  ["ulaw_8000", 1 / 6],
  ["alaw_8000", 1 / 6],
  ["wav_16000", 0],
  ["opus_48000_64", 0],
]) {
  const sound = await bytes(await swar.textToSpeech.convert("anjura", { text, seed: 7, outputFormat }));
  const seconds = ratio === 0 ? decoded(sound) : sound.length / ratio / 48000;
  assert(Math.abs(seconds - pcm.length / 48000) <= 0.08, `${outputFormat} has ${seconds} s`);
}

// The first audio comes long before the last.
const began = performance.now();
let first;
for await (const part of await swar.textToSpeech.stream("raj", { text: long, outputFormat: "pcm_24000" })) first ??= part.length && performance.now() - began;
assert(performance.now() - began > 3 * first, "all audio came at once");

const grow = (times) => times.every((t, i) => i === 0 || t >= times[i - 1]);
const timed = await swar.textToSpeech.convertWithTimestamps("anjura", { text, seed: 7, outputFormat: "pcm_24000" });
assert(Buffer.from(timed.audioBase64, "base64").equals(pcm), "with times it sounds otherwise");
assert.equal(timed.alignment.characters.join(""), text + " ");
assert(grow(timed.alignment.characterStartTimesSeconds) && timed.normalizedAlignment.characters.length > text.length);
assert(Math.max(...timed.alignment.characterEndTimesSeconds) <= pcm.length / 48000);
const parts = [];
for await (const part of await swar.textToSpeech.streamWithTimestamps("anjura", { text, seed: 7, outputFormat: "pcm_24000" })) parts.push(part);
assert(Buffer.concat(parts.map((p) => Buffer.from(p.audioBase64, "base64"))).equals(pcm));
assert.equal(parts.flatMap((p) => p.alignment?.characters ?? []).join(""), text + " ");

assert((await swar.voices.getAll()).voices.some((v) => v.voiceId === "raj"));
assert.equal((await swar.voices.search()).hasMore, false);
assert.equal((await swar.voices.get("raj")).name, "raj");
assert.equal((await swar.models.list())[0].modelId, "swar-1");
assert.equal((await swar.user.subscription.get()).tier, "swar");
assert.equal((await swar.user.get()).subscription.status, "active");

const speak = (voice, body, by = swar) => by.textToSpeech.convert(voice, { text: "Hi", ...body });
for (const [call, status, word] of [
  [() => speak("raj", {}, client("wrong")), 401, "invalid_api_key"],
  [() => speak("anjura", {}, client(process.env.SWAR_COMPAT_RAJ_KEY)), 403, "voice_access_denied"],
  [() => speak("aaaaaaaaaaaaaaaaaaaa", {}), 404, "voice_not_found"],
  [() => speak("raj", { text: "" }), 400, "input_text_empty"],
  [() => speak("raj", { text: "a".repeat(5001) }), 400, "max_character_limit_exceeded"],
  [() => speak("raj", { voiceSettings: { speed: 2 } }), 400, "invalid_voice_settings"],
]) {
  await assert.rejects(call, (e) => {
    assert(e instanceof sdk.ElevenLabsError, `${e}`);
    assert.deepEqual([e.statusCode, e.body.detail.status], [status, word]);
    return true;
  });
}

const isIdle = async () => {
  const began = Date.now();
  for (;;) {
    const health = await (await fetch(server + "/healthz")).json();
    if (health.workers_busy === 0 && health.listeners === 0) return;
    assert(Date.now() - began < 2000, "what was interrupted is still spoken");
  }
};
const leave = new AbortController();
const cut = await swar.textToSpeech.stream("raj", { text: long, outputFormat: "pcm_24000" }, { abortSignal: leave.signal });
await cut.getReader().read();
leave.abort();
await isIdle();

// The SDK has no socket for speech: what its users write themselves.
const context = () => {
  const of = { audio: [], chars: "", starts: [] };
  of.done = new Promise((resolve) => (of.end = () => resolve(of)));
  return of;
};
const open = (query) =>
  new Promise((resolve, reject) => {
    const url = `${server.replace("http", "ws")}/v1/text-to-speech/raj/multi-stream-input?output_format=pcm_24000&${query}`;
    const socket = new WebSocket(url, { headers: { "xi-api-key": process.env.SWAR_COMPAT_KEY } });
    const told = {};
    socket.on("message", (data) => {
      const m = JSON.parse(data);
      const of = (told[m.contextId] ??= context());
      if (m.error) of.error = m.error;
      if (m.audio) of.audio.push(Buffer.from(m.audio, "base64"));
      if (m.alignment) of.chars += m.alignment.chars.join("");
      if (m.alignment) of.starts.push(...m.alignment.charStartTimesMs);
      if (m.isFinal) of.end();
    });
    socket.on("open", () =>
      resolve({
        send: (m) => socket.send(JSON.stringify(m)),
        final: (id) => (told[id] ??= context()).done,
        closed: new Promise((closed) => socket.on("close", closed)),
      }),
    );
    socket.on("error", reject);
  });
const socket = await open("auto_mode=true&sync_alignment=true");
for (const id of ["a", "b"]) {
  socket.send({ text: " ", context_id: id });
  socket.send({ text: "Namaste! Aapka OTP 482913 hai. ", context_id: id, flush: true });
  socket.send({ text: "कल मिलेंगे। ", context_id: id, flush: true });
  socket.send({ text: "", context_id: id, flush: true });
  socket.send({ context_id: id, close_context: true });
}
for (const id of ["a", "b"]) {
  const of = await socket.final(id);
  assert.equal(of.chars, text + " ");
  assert(grow(of.starts), `times of ${id} fall`);
  await near(Buffer.concat(of.audio).length / 48000, text, "raj", `context ${id}`, { pieces: true });
}
socket.send({ text: long, context_id: "c", flush: true });
await new Promise((resolve) => setTimeout(resolve, 200));
socket.send({ context_id: "c", close_context: true });
await socket.final("c");
await isIdle();
socket.send({ text: "Bas.", context_id: "d" });
socket.send({ close_socket: true });
assert((await socket.final("d")).audio.length > 0);
assert.equal(await socket.closed, 1000);

// Markup, word by word: the break is heard, and no tag is.
const marked = await open("enable_ssml_parsing=true&sync_alignment=true");
for (const piece of 'Aapka OTP <break time="2s"/> <say-as interpret-as="digits">482913</say-as> hai.'.split(/(?= )/))
  marked.send({ text: piece, context_id: "e" });
marked.send({ text: "", context_id: "e", flush: true });
marked.send({ context_id: "e", close_context: true });
const spoken = await marked.final("e");
assert.equal(spoken.chars, "Aapka OTP 482913 hai. ");
assert(Buffer.concat(spoken.audio).length / 48000 > 4, "the break is not heard");
marked.send({ close_socket: true });
await marked.closed;
