// The plugin of sdk/livekit-node in the agents of LiveKit for Node, which also compile it: turns, times, errors, barge-in.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { createServer } from "node:http";
import { dirname, join } from "node:path";
import { ReadableStream } from "node:stream/web";
import { fileURLToPath } from "node:url";
import { APIConnectionError, APIError, APIStatusError, initializeLogger, tts, voice } from "@livekit/agents";
import { WebSocket } from "ws"; // of LiveKit's; Node 20 has none

const here = dirname(fileURLToPath(import.meta.url));
const server = process.env.SWAR_COMPAT;

/** Compiles a package of this repository, where imports of it find it. */
function build(name, folder) {
  const to = join(here, "build", folder);
  rmSync(to, { recursive: true, force: true });
  cpSync(join("sdk", folder), to, { recursive: true, filter: (path) => !/node_modules|dist$/.test(path) });
  execFileSync(join(here, "node_modules/.bin/tsc"), { cwd: to, stdio: "inherit" });
  const link = join(here, "node_modules", name);
  mkdirSync(dirname(link), { recursive: true });
  rmSync(link, { recursive: true, force: true });
  symlinkSync(to, link);
  return to;
}

build("@swar/client", "typescript");
const plugin = build("@swar/livekit-plugin", "livekit-node");
const [packed] = JSON.parse(execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], { cwd: plugin, encoding: "utf8" }));
const modules = ["index.d.ts", "index.js", "tts.d.ts", "tts.js"];
assert.deepEqual(packed.files.map((f) => f.path).sort(), ["README.md", ...modules.map((m) => "dist/" + m), "package.json"]);

initializeLogger({ pretty: false, level: "fatal" });
const { TTS } = await import("@swar/livekit-plugin");

/** A TTS whose errors are collected, and never thrown. */
function make(options = {}) {
  const made = new TTS({ baseUrl: server, apiKey: process.env.SWAR_COMPAT_KEY, WebSocket, ...options });
  made.errors = [];
  made.on("error", (e) => made.errors.push(e));
  return made;
}

/** Speaks pieces in one turn. */
async function speak(by, pieces, options) {
  const stream = by.stream(options);
  stream.updateInputStream(ReadableStream.from(pieces));
  const packets = [];
  for await (const packet of stream) packets.push(packet);
  return packets;
}

const seconds = (packets) => packets.reduce((sum, p) => sum + (p.frame ? p.frame.samplesPerChannel / 24000 : 0), 0);
const metric = async (name) => Number(new RegExp(`^${name} (.*)$`, "m").exec(await (await fetch(server + "/metrics")).text())?.[1] ?? 0);
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const long = "Aapka order kal tak deliver ho jayega, total 499 rupaye hai. ".repeat(60);

const swar = make({ seed: 7 });
swar.prewarm();

// A turn, token by token, with times; then another one on the same socket.
const text = "Namaste! Aapka OTP 407 hai। धन्यवाद।";
const metrics = [];
swar.on("metrics_collected", (m) => metrics.push(m));
const packets = await speak(swar, [...text]);
assert.equal(packets.at(-1), tts.SynthesizeStream.END_OF_STREAM);
assert.deepEqual(packets.slice(0, -1).map((p) => p.final), [...Array(packets.length - 2).fill(false), true]);
const words = packets.flatMap((p) => p.timedTranscripts ?? []);
assert(words.length === 6 && words.every((w, i) => i === 0 || w.startTime >= words[i - 1].endTime));
assert(words.at(-1).endTime <= seconds(packets));
assert.equal(words.map((w) => w.text).join(""), text, "the transcript is the text as it was written");
assert(metrics[0].ttfbMs >= 0 && metrics[0].charactersCount === text.length);
const again = await speak(swar, [text]);
assert(Math.abs(seconds(again) - seconds(packets)) < 0.7);
assert.equal(await metric("tts_websockets_open"), 1);
assert.deepEqual(await speak(swar, []), [], "a turn without text");
assert.deepEqual((await speak(swar, ["…"])).at(-1), tts.SynthesizeStream.END_OF_STREAM);

// A whole text, over HTTP.
let whole = 0;
let final = false;
for await (const p of swar.synthesize("Namaste! Aapka order kal aayega.")) {
  assert(!final);
  whole += p.frame.samplesPerChannel / 24000;
  final = p.final;
}
assert(final && whole > 1);

// A barge-in after the language model has ended, by the way an agent goes.
const agent = {
  getActivityOrThrow: () => ({ tts: swar, agentSession: { connOptions: {} }, _resolveExpressiveOptions() {} }),
};
const bills = [];
const all = seconds(await speak(swar, [long]));
for (let i = 0; i < 3; i++) {
  const before = await metric("tts_audio_seconds_total");
  const node = await voice.Agent.default.ttsNode(agent, ReadableStream.from([long]), {});
  const reader = node.getReader();
  assert(!(await reader.read()).done);
  const began = performance.now();
  await reader.cancel();
  await wait(200 - (performance.now() - began));
  const billed = (await metric("tts_audio_seconds_total")) - before;
  await wait(300);
  assert.equal((await metric("tts_audio_seconds_total")) - before, billed, "still speaking 200 ms after the barge-in");
  bills.push(billed);
  assert(billed < all / 2, `${billed} s of ${all} s were billed`);
}
assert(seconds(await speak(swar, ["Namaste!"])) > 0.3, "the socket lives on");
assert.equal(await metric("tts_websockets_open"), 1);
assert.deepEqual(swar.errors, []);

// Errors.
process.on("unhandledRejection", (e) => assert(e instanceof APIError)); // of ChunkedStream in LiveKit 1.9, beside its event
const once = { connOptions: { maxRetry: 0, retryIntervalMs: 0, timeoutMs: 1000 } };
for (const [options, pieces, kind, status, retryable] of [
  [{ apiKey: "wrong" }, ["Namaste!"], APIStatusError, 401, false],
  [{ voice: "kaun" }, ["Namaste!"], APIStatusError, 400, false],
  [{ apiKey: process.env.SWAR_COMPAT_RAJ_KEY, voice: "anjura" }, ["Namaste!"], APIStatusError, 403, false],
  [{}, ["a".repeat(4001)], APIStatusError, 413, false],
  [{ baseUrl: "127.0.0.1:1" }, ["Namaste!"], APIConnectionError, undefined, true],
]) {
  const refused = make(options);
  await speak(refused, pieces, once);
  const { error } = refused.errors[0];
  assert(error instanceof kind, `${error}`);
  assert.deepEqual([error.statusCode, error.retryable], [status, retryable]);
  for await (const p of refused.synthesize(pieces[0], once.connOptions)) assert.fail(`${p}`);
  assert(refused.errors[1].error instanceof kind);
  await refused.close();
}

// A busy server is tried again, with all of the text.
let asked = 0;
const busy = createServer((_, response) => {
  asked++;
  response.writeHead(503, { "retry-after": "0", "x-error-code": "busy" }).end('{"error":"busy"}');
}).listen(0, "127.0.0.1");
await new Promise((resolve) => busy.once("listening", resolve));
const patient = make({ baseUrl: `http://127.0.0.1:${busy.address().port}` });
await speak(patient, ["Namaste!"], { connOptions: { maxRetry: 2, retryIntervalMs: 1, timeoutMs: 1000 } });
assert(asked >= 3 && patient.errors.length === 1);
busy.closeAllConnections();
busy.close();

await swar.close();
console.log(`barge-ins billed ${bills.map((b) => b.toFixed(1)).join(", ")} of ${all.toFixed(1)} s`);
process.exit(0); // LiveKit keeps handles open
