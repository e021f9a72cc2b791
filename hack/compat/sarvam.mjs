// The client of Sarvam for Node against a server of ours.
import assert from "node:assert/strict";
import { SarvamAIClient, SarvamAI } from "sarvamai";
import { decoded, near } from "./native.mjs";

const http = process.env.SWAR_COMPAT;
const environment = { base: http, creative: http, production: http.replace("http", "ws") };
const client = (apiSubscriptionKey) => new SarvamAIClient({ apiSubscriptionKey, environment });
const swar = client(process.env.SWAR_COMPAT_KEY);
const text = "Namaste! Aapka OTP 482913 hai. कल मिलेंगे।";
const sound = async (fields, by = swar) => {
  const answer = await by.textToSpeech.convert({ text, language_code: "hi-IN", speaker: "shubh", model: "bulbul:v3", ...fields });
  return Buffer.from(answer.audios[0], "base64");
};

const wav = await sound({});
assert.equal(wav.readUInt32LE(4), wav.length - 8);
await near((wav.length - 44) / 48000, text, "raj", "wav");
for (const output_audio_codec of ["mp3", "opus", "flac"]) {
  await near(decoded(await sound({ output_audio_codec })), text, "raj", output_audio_codec);
}
await near(decoded(await sound({ output_audio_codec: "mp3", speech_sample_rate: 8000 })), text, "raj", "mp3 at 8 kHz");
for (const [output_audio_codec, second] of [["linear16", 48_000], ["mulaw", 8000], ["alaw", 8000]]) {
  await near((await sound({ output_audio_codec })).length / second, text, "raj", output_audio_codec);
}
for (const [kind, fields, key] of [
  [SarvamAI.ForbiddenError, {}, "wrong"],
  [SarvamAI.ForbiddenError, { speaker: "anushka" }, process.env.SWAR_COMPAT_RAJ_KEY],
  [SarvamAI.BadRequestError, { text: "a".repeat(2501) }],
  [SarvamAI.BadRequestError, { speaker: "kaun" }],
]) {
  await assert.rejects(() => sound(fields, key ? client(key) : swar), (e) => e instanceof kind || assert.fail(`${e}`));
}

const socket = await swar.textToSpeechStreaming.connect({ model: "bulbul:v3", send_completion_event: "true", "Api-Subscription-Key": process.env.SWAR_COMPAT_KEY });
await socket.waitForOpen();
for (let turn = 0; turn < 2; turn++) {
  let bytes = 0;
  const ended = new Promise((resolve, reject) => {
    socket.on("message", (m) => {
      if (m.type === "audio") bytes += Buffer.from(m.data.audio, "base64").length;
      else if (m.type === "event") resolve();
      else reject(new Error(JSON.stringify(m)));
    });
  });
  socket.configureConnection({ language_code: "hi-IN", speaker: "shubh", output_audio_codec: "linear16", speech_sample_rate: 24000 });
  for (const piece of ["नमस", "्ते!", " Aapka OTP 4829", "13 hai. ", "कल मिलें", "गे।"]) socket.convert(piece);
  socket.flush();
  await ended;
  await near(bytes / 48000, text, "raj", "a socket", { pieces: true });
}
socket.close();
