// What needs no server: telephones, captions, what is shipped.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { frames20ms, toMulaw, toVTT, Written } from "@swar/client";
import { workletSource } from "@swar/client/browser";

const folder = new URL("..", import.meta.url);

/** Makes a sine of so many Hz, at 24 kHz. */
function sine(hz, samples, level = 16000) {
  return new Uint8Array(Int16Array.from({ length: samples }, (_, i) => level * Math.sin((2 * Math.PI * hz * i) / 24000)).buffer);
}

/** Reads µ-law as G.711 tells. */
function linear(byte) {
  const u = ~byte & 0xff;
  const size = ((((u & 15) << 3) + 0x84) << ((u >> 4) & 7)) - 0x84;
  return u & 0x80 ? -size : size;
}

const power = (bytes) => bytes.reduce((sum, b) => sum + linear(b) ** 2, 0) / bytes.length;

test("telephones hear what 8 kHz can carry, and nothing else", () => {
  const level = (hz) => {
    const out = toMulaw(sine(hz, 24000));
    assert.equal(out.length, 8000);
    return 10 * Math.log10(power(out.subarray(200, -200)) / (16000 ** 2 / 2));
  };
  for (const hz of [100, 1000, 3000, 3400]) assert(Math.abs(level(hz)) < 0.3, `${hz} Hz: ${level(hz)} dB`);
  for (const hz of [4060, 5000, 7000, 11000]) assert(level(hz) < -45, `${hz} Hz: ${level(hz)} dB`);
});

test("µ-law is decided as Sun's encoder does", () => {
  const flat = (sample) => toMulaw(new Uint8Array(new Int16Array(600).fill(sample).buffer))[100];
  for (const [sample, byte] of [[0, 0xff], [4, 0xfe], [-4, 0x7e], [32767, 0x80], [-32768, 0x00], [1000, 0xce], [-1000, 0x4e]]) {
    assert.equal(flat(sample), byte, `${sample}`);
  }
});

test("lengths around a frame, and pieces that cut samples", async () => {
  for (const samples of [0, 1, 2, 3, 479, 480, 481, 1920]) {
    const pcm = sine(440, samples);
    const whole = toMulaw(pcm);
    assert.equal(whole.length, Math.ceil(samples / 3));
    for (const size of [1, 7, 3840]) {
      const pieces = (async function* () {
        for (let i = 0; i < pcm.length; i += size) yield pcm.subarray(i, i + size);
      })();
      const frames = [];
      for await (const frame of frames20ms(pieces)) frames.push(frame);
      assert.equal(frames.length, Math.ceil(whole.length / 160));
      assert(frames.every((f) => f.length === 160));
      const joined = Buffer.concat(frames);
      assert.deepEqual(joined.subarray(0, whole.length), Buffer.from(whole));
      assert(joined.subarray(whole.length).every((b) => b === 0xff));
    }
  }
});

test("captions are cut between words and keep their marks", () => {
  const text = "“Ek”, do & teen: chaar paanch chhah saat aath nau dus.";
  const words = [...text.matchAll(/\w+/g)].map((m, i) => ({
    word: m[0], char_start: 100 + m.index, char_end: 100 + m.index + m[0].length, start_s: i, end_s: i + 0.5,
  }));
  const head = { request_id: "a", chunk: 0 };
  const vtt = toVTT([
    { type: "chunk", ...head, text, tokens: 1, audio_start_s: 0, char_start: 100, char_end: 154 },
    { type: "words", ...head, estimated: true, words },
  ]);
  assert.equal(vtt, `WEBVTT

00:00:00.000 --> 00:00:06.500
“Ek”, do &amp; teen: chaar paanch chhah saat

00:00:07.000 --> 00:00:09.500
aath nau dus.
`);
  assert.equal(toVTT([{ type: "words", ...head, estimated: true, words: [] }]), "WEBVTT\n");
});

/** Makes words that last a second each. */
const spoken = (words, start = 0) => words.map((word, i) => ({ word, char_start: 0, char_end: 0, start_s: start + i, end_s: start + i + 1 }));

test("words as they were written have the times of what is spoken of them", () => {
  const text = new Written();
  for (const piece of ["Aap", "ka OTP 40", "7 hai. — 🙂 Kal ₹50", "0!"]) text.append(piece);
  const shown = (words) => words.map((w) => `${text.text.slice(w.char_start, w.char_end)} ${w.start_s}-${w.end_s}`);
  const first = text.words(spoken(["Aapka", "ओ", "टी", "पी", "चार", "शून्य", "सात", "hai"]));
  assert.deepEqual(shown(first), ["Aapka 0-1", "OTP 1-4", "407 4-7", "hai. 7-8"]);
  assert.deepEqual(shown(text.words(spoken(["Kal", "पाँच", "सौ", "रुपये"], 8))), ["Kal 8-9"]);
  assert.deepEqual(shown(text.rest()), ["₹500! 9-12"]);
  assert.deepEqual(text.rest(), []);
  for (const [written, said, want] of /** @type {[string, string, string[]][]} */ ([
    ["", "", []],
    ["🙂", "", []],
    ["Namaste!", "namaste", ["Namaste! 0-1"]],
    ["See https://a.example/b now", "See now", ["See 0-1", "https://a.example/b 1-1", "now 1-2"]],
    ["नमस्ते, आप", "नमस्ते आप", ["नमस्ते, 0-1", "आप 1-2"]],
    ["Hai.", "यह ए आई है Hai", ["Hai. 4-5"]],
  ])) {
    const w = new Written();
    w.append(written);
    const words = [...w.words(spoken(said.split(" ").filter(Boolean))), ...w.rest()];
    assert.deepEqual(words.map((one) => `${one.word} ${one.start_s}-${one.end_s}`), want);
  }
});

test("a player fades out within one block when it is stopped", () => {
  let Processor = /** @type {any} */ (undefined);
  const told = [];
  class AudioWorkletProcessor {
    port = { postMessage: (m) => told.push(m) };
  }
  new Function("AudioWorkletProcessor", "registerProcessor", workletSource)(AudioWorkletProcessor, (_, kind) => (Processor = kind));
  const run = (worklet) => {
    const out = new Float32Array(128);
    return [worklet.process([], [[out]]), out];
  };
  const worklet = new Processor();
  const send = (data) => worklet.port.onmessage({ data });
  send(new Float32Array(200).fill(1));
  send(new Float32Array(400).fill(1));
  assert.deepEqual(run(worklet), [true, new Float32Array(128).fill(1)]);
  send("stop");
  const [more, last] = run(worklet);
  assert(!more && last[0] > 0.99 && last[127] === 0 && last.every((v, i) => i === 0 || v < last[i - 1]));
  assert.deepEqual(told, [{ played: 256, over: true }]);

  const whole = new Processor();
  whole.port.onmessage({ data: new Float32Array(129).fill(1) });
  assert(run(whole)[0]);
  assert(run(whole)[0], "it waits for more");
  whole.port.onmessage({ data: "end" });
  assert.equal(run(whole)[0], false);
  assert.deepEqual(told.at(-1), { played: 129, over: true });
});

test("the client is small, and its core runs everywhere", () => {
  const files = readdirSync(new URL("dist/", folder)).filter((f) => f.endsWith(".js"));
  const source = Object.fromEntries(files.map((f) => [f, readFileSync(new URL(`dist/${f}`, folder), "utf8")]));
  const size = gzipSync(Object.values(source).join("")).length;
  assert(size < 15_000, `${size} bytes with gzip`);
  console.log(`${size} bytes with gzip`);
  for (const [file, text] of Object.entries(source)) {
    if (file !== "node.js") assert.doesNotMatch(text, /from "(?!\.\/)|\bBuffer\b|require\(/, file);
  }
  const { dependencies } = JSON.parse(readFileSync(new URL("package.json", folder), "utf8"));
  assert.equal(dependencies, undefined);
});

test("npm packs what is shipped, and nothing else", (t) => {
  if (!process.env.SWAR_TEST_PACK) return t.skip("SKIPPED: hack/sdk-typescript.sh says why");
  const [packed] = JSON.parse(execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], { cwd: folder, encoding: "utf8" }));
  const modules = readdirSync(new URL("src/", folder)).map((f) => f.replace(/\.ts$/, ""));
  const want = ["package.json", "README.md", ...modules.flatMap((m) => [`dist/${m}.js`, `dist/${m}.d.ts`])];
  assert.deepEqual(packed.files.map((f) => f.path).sort(), want.sort());
});
