// The plugins of LiveKit for Node for other services against a server of ours: each with its defaults, but for the
// address. SWAR_COMPAT_PLUGINS names those that are tried.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ReadableStream } from "node:stream/web";
import { fileURLToPath } from "node:url";
import { near } from "./native.mjs";
import { APIConnectionError, APIError, APIStatusError, initializeLogger } from "@livekit/agents";

const server = process.env.SWAR_COMPAT;
const key = process.env.SWAR_COMPAT_KEY;
const text = ["Namaste! Aapka OTP ", "482913 hai. ", "कल मिलें", "गे।"];
const sentence = "Aapka order kal tak deliver ho jayega, total 499 rupaye hai. ";
const atOnce = { connOptions: { maxRetry: 0, retryIntervalMs: 0, timeoutMs: 10_000 } };

/**
 * What is known of a plugin: whom its default voice stands for, its options, what it cannot do, what it raises when the server is busy, and whether it
 * raises an unknown voice. That of Cartesia takes a status below 500 for a turn without audio.
 */
const plugins = {
  openai: { address: (h) => ({ baseURL: h + "/v1" }), stream: false },
  deepgram: { speaks: "anjura", address: (h) => ({ baseUrl: h }), whole: false, busy: APIError }, // whole texts: TLS alone
  elevenlabs: { speaks: "raj", address: (h) => ({ baseURL: h + "/v1" }), voice: "voiceId", raises: true, busy: APIStatusError },
  cartesia: { speaks: "anjura", address: (h) => ({ baseUrl: h }), whole: false, voice: "voice", busy: APIStatusError }, // whole texts: TLS alone
  sarvam: { speaks: "anjura", address: (h) => ({ baseURL: h }), voice: "speaker", raises: true, busy: APIConnectionError },
};

initializeLogger({ pretty: false, level: "fatal" });
process.on("unhandledRejection", () => {}); // of ChunkedStream, beside its event

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const metric = async (name) => Number(new RegExp(`^${name} (.*)$`, "m").exec(await (await fetch(server + "/metrics")).text())?.[1] ?? 0);
const billed = () => metric("tts_audio_seconds_total");
const seconds = (packets) => packets.reduce((sum, p) => sum + (p.frame ? p.frame.samplesPerChannel / p.frame.sampleRate : 0), 0);

async function collect(stream) {
  const packets = [];
  for await (const p of stream) packets.push(p);
  return packets;
}

function speak(by, pieces) {
  const stream = by.stream(atOnce);
  stream.updateInputStream(ReadableStream.from(pieces));
  return stream;
}

/** Waits until nothing is spoken, and returns what was billed. */
async function settled(before) {
  for (let i = 0; i < 100 && (await metric("tts_streams_active")) + (await metric("tts_websockets_open")) > 0; i++) await wait(100);
  return (await billed()) - before;
}

/** A server of one worker, which a client that does not read holds. */
async function busyServer() {
  const port = Number(new URL(server).port) + 7;
  const child = spawn(
    process.env.SWAR_TEST_BINARY,
    ["serve", "--portal", "off", "--engine", "espeak", "--listen", `127.0.0.1:${port}`, "--workers", "1", "--queue", "0", "--spool", "0"],
    { env: { ...process.env, SWAR_API_KEY: key }, cwd: mkdtempSync(join(tmpdir(), "swar-")), stdio: "ignore" },
  );
  const at = `http://127.0.0.1:${port}`;
  for (let i = 0; i < 600 && !(await fetch(at + "/readyz").then((r) => r.ok, () => false)); i++) await wait(100);
  const body = JSON.stringify({ text: sentence.repeat(60), format: "pcm16" });
  const held = await fetch(at + "/v1/tts", { method: "POST", headers: { "x-api-key": key }, body });
  assert.equal(held.status, 200);
  return { at, stop: () => (child.kill("SIGKILL"), once(child, "exit")) };
}

/** Returns what a turn fails with. */
async function failure(by, pieces) {
  const errors = [];
  by.on("error", (e) => errors.push(e.error));
  const packets = await Promise.race([collect(speak(by, pieces)), wait(15_000).then(() => assert.fail("the turn never ends"))]);
  assert.equal(seconds(packets), 0);
  return errors[0];
}

async function tryPlugin(name) {
  const { TTS } = await import(`@livekit/agents-plugin-${name}`);
  const known = plugins[name];
  const make = (options = {}, host = server) => new TTS({ apiKey: key, ...known.address(host), ...options });
  const tts = make();
  const errors = [];
  tts.on("error", (e) => errors.push(e.error));
  let said = "";
  if (known.whole !== false) {
    const whole = seconds(await collect(tts.synthesize(text.join(""))));
    assert(whole > 3 && whole < 15, `${whole} s`);
    said = `${whole.toFixed(1)} s`;
    const wrong = make({ apiKey: "wrong" });
    const raised = once(wrong, "error");
    for await (const p of wrong.synthesize("Namaste!", atOnce.connOptions)) assert.fail(`${p}`);
    assert.match(String((await raised)[0].error), /40[13]|key/i);
  }
  if (known.stream === false) {
    const { OpenAI } = await import("openai");
    const all = seconds(await collect(tts.synthesize(sentence.repeat(60))));
    const before = await billed();
    const abort = new AbortController();
    const client = new OpenAI({
      baseURL: server + "/v1", apiKey: key,
      fetch: async (...of) => {
        const response = await fetch(...of);
        abort.abort(); // when audio begins
        return response;
      },
    });
    await collect(make({ client }).synthesize(sentence.repeat(60), atOnce.connOptions, abort.signal));
    const bill = await settled(before);
    assert(bill < all, `${bill} s of ${all} s were billed`);
    console.log(`${name}: ${said}; a barge-in billed ${bill.toFixed(1)} of ${all.toFixed(1)} s`);
    return;
  }

  // Turns, with times where the plugin has them.
  const lengths = [];
  for (let i = 0; i < 2; i++) {
    const packets = await collect(speak(tts, text));
    lengths.push(seconds(packets));
    const starts = packets.flatMap((p) => p.timedTranscripts ?? []).map((w) => w.startTime);
    assert.deepEqual(starts, starts.toSorted((a, b) => a - b));
    assert(starts.length > 3 || !tts.capabilities.alignedTranscript, `${starts.length} words`);
  }
  for (const s of lengths) await near(s, text.join(""), known.speaks, name, { pieces: true });
  const many = await Promise.all([...Array(5)].map(() => collect(speak(tts, ["Namaste!"]))));
  assert(many.every((packets) => seconds(packets) > 0.2));

  assert.deepEqual(errors, []);
  await tts.close();

  // A barge-in after the language model has ended, of which most plugins do not tell the server, and the end of the
  // process a second later: only what may be spoken ahead of its sounding bounds the bill.
  const before = await billed();
  execFileSync(process.execPath, [fileURLToPath(import.meta.url)], { env: { ...process.env, SWAR_COMPAT_PLUGINS: "", SWAR_BARGE_IN: name }, timeout: 60_000 });
  const bill = await settled(before);
  assert(bill > 0 && bill < 45, `${bill} s were billed`);

  // Errors.
  assert.match(String(await failure(make({ apiKey: "wrong" }), ["Namaste!"])), /40[13]|connect/i);
  if (known.voice) {
    const error = await failure(make({ [known.voice]: "kaun" }), ["Namaste! ", "Kal milenge."]);
    assert(error instanceof APIError || !known.raises, `${error}`);
  }
  const busy = await busyServer();
  const error = await failure(make({}, busy.at), ["Namaste! Aapka order kal tak deliver ho jayega."]);
  assert(error instanceof known.busy, `${error}`);
  await busy.stop();
  console.log(`${name}: ${lengths[0].toFixed(1)} s; a barge-in billed ${bill.toFixed(1)} of 300 s; busy is ${error}`);
}

const interrupted = process.env.SWAR_BARGE_IN;
if (interrupted) {
  const { TTS } = await import(`@livekit/agents-plugin-${interrupted}`);
  const stream = speak(new TTS({ apiKey: key, ...plugins[interrupted].address(server) }), [sentence.repeat(60)]);
  await stream.next();
  stream.close();
  await wait(1000);
  process.exit(0);
}
for (const name of process.env.SWAR_COMPAT_PLUGINS.split(",")) await tryPlugin(name);
process.exit(0); // LiveKit keeps handles open
