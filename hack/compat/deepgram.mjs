// The client of Deepgram for Node against a server of ours.
import assert from "node:assert/strict";
import { DeepgramClient, DeepgramError } from "@deepgram/sdk";
import { decoded, near } from "./native.mjs";

const text = "Namaste! Aapka OTP 482913 hai. कल मिलेंगे।";
const http = process.env.SWAR_COMPAT;
const ws = http.replace("http", "ws");
const client = (apiKey) =>
  new DeepgramClient({ apiKey, environment: { base: http, production: ws, agent: ws, agentRest: http }, maxRetries: 0 });
const swar = client(process.env.SWAR_COMPAT_KEY);

for (const encoding of [undefined, "mp3", "linear16", "mulaw", "alaw", "opus", "flac"]) {
  const answer = await swar.speak.v1.audio.generate({ text, model: "raj", encoding });
  await near(decoded(Buffer.from(await answer.arrayBuffer())), text, "raj", encoding);
}

// connect resolves with a socket and everything that has come.
async function connect(query) {
  const socket = await swar.speak.v1.connect({ Authorization: `Token ${process.env.SWAR_COMPAT_KEY}`, reconnectAttempts: 0, ...query });
  const heard = { bytes: 0, messages: [] };
  let wake = () => {};
  socket.on("message", async (m) => {
    if (typeof m === "object" && m.type) heard.messages.push(m);
    else heard.bytes += m.size ?? m.byteLength ?? m.length;
    wake();
  });
  socket.on("close", (e) => {
    heard.closed = e.code;
    wake();
  });
  socket.connect();
  await socket.waitForOpen();
  const until = async (seen) => {
    while (!seen(heard)) await new Promise((done) => (wake = done));
  };
  const last = (type) => until((h) => h.messages.at(-1)?.type === type);
  return { socket, heard, until, last };
}

const { socket, heard, until, last } = await connect({ model: "anjura", encoding: "linear16", sample_rate: 24000 });
await last("Metadata");
assert.equal(heard.messages[0].model_name, "anjura");
for (const piece of ["नम", "स", "्", "ते", " जी", "।", " Aapka OTP 4829", "13 hai."]) socket.sendText({ type: "Speak", text: piece });
await until((h) => h.bytes > 0); // before the text is complete
socket.sendFlush({ type: "Flush" });
await last("Flushed");
assert(heard.bytes % 3840 === 0, `${heard.bytes} bytes`);
await near(heard.bytes / 48_000, "नमस्ते जी। Aapka OTP 482913 hai.", "anjura", "a socket", { pieces: true });
socket.sendText({ type: "Speak", text: text.repeat(20) });
socket.sendFlush({ type: "Flush" });
const before = heard.bytes;
await until((h) => h.bytes > before);
socket.sendClear({ type: "Clear" });
await last("Cleared");
const cleared = heard.bytes;
socket.sendText({ type: "Speak", text: "a".repeat(2001) });
await last("Warning");
assert.equal(heard.bytes, cleared);
socket.sendText({ type: "Speak", text: "Namaste." });
socket.sendClose({ type: "Close" });
await until((h) => h.closed);
assert.equal(heard.closed, 1000);
assert(heard.bytes > cleared);

const phone = await connect({ model: "aura-2-orion-en", encoding: "mulaw", sample_rate: 8000 });
phone.socket.sendText({ type: "Speak", text });
phone.socket.sendFlush({ type: "Flush" });
await phone.last("Flushed");
await near(phone.heard.bytes / 8000, text, "raj", "a telephone", { pieces: true });
phone.socket.close();

for (const [status, key, fields] of [
  [401, "wrong", {}],
  [403, process.env.SWAR_COMPAT_RAJ_KEY, { model: "anjura" }],
  [400, process.env.SWAR_COMPAT_KEY, { model: "kaun" }],
  [413, process.env.SWAR_COMPAT_KEY, { text: "a".repeat(2001) }],
]) {
  await assert.rejects(
    () => client(key).speak.v1.audio.generate({ text, ...fields }),
    (e) => e instanceof DeepgramError && e.statusCode === status && Boolean(e.body.err_code),
    `${status}`,
  );
}
const models = await swar.manage.v1.models.list();
assert(models.tts.some((m) => m.canonical_name === "raj"));
