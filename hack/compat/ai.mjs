// The AI SDK of Vercel against a server of ours.
import assert from "node:assert/strict";
import { createOpenAI } from "@ai-sdk/openai";
import { experimental_generateSpeech as generateSpeech } from "ai";
import { decoded, near } from "./native.mjs";

const swar = createOpenAI({ baseURL: process.env.SWAR_COMPAT + "/v1", apiKey: process.env.SWAR_COMPAT_KEY });
const text = "Namaste! Aapka OTP 482913 hai.";
for (const outputFormat of ["mp3", "wav", "opus", "flac", undefined]) {
  const { audio } = await generateSpeech({ model: swar.speech("tts-1"), text, voice: "nova", outputFormat });
  await near(decoded(audio.uint8Array), text, "anjura", outputFormat);
}
await assert.rejects(
  () => generateSpeech({ model: swar.speech("tts-1"), text, voice: "kaun", maxRetries: 0 }),
  (e) => e.statusCode === 400 && /unknown voice 'kaun'/.test(e.message),
);
