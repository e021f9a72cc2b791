// Against a real server, and against servers that break.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import * as swarClient from "@swar/client";
import { save } from "@swar/client/node";
import { start } from "./server.mjs";

const { BusyError, CutError, AuthError, Swar, SwarError, TextError, toVTT } = swarClient;
const cases = JSON.parse(readFileSync(new URL("../../cases.json", import.meta.url), "utf8"));
const order = "Namaste! Aapka order kal tak deliver ho jayega, total ₹499 hai.";
const long = "Yeh ek lamba vaakya hai jo bahut der tak chalta hai. ".repeat(20);

/** Reads all events of an utterance. */
async function eventsOf(u) {
  const events = [];
  for await (const e of u) events.push(e);
  return events;
}

describe("a real server", () => {
  let server, swar;
  before(async () => {
    server = await start();
    swar = new Swar({ baseUrl: server.url, apiKey: "good" });
  });
  after(() => server.stop());

  for (const { name, key = "good", request, seconds, error } of cases) {
    test(`case: ${name}`, async () => {
      const { repeat = 1, text, ...more } = request;
      const asked = new Swar({ baseUrl: server.url, apiKey: key }).speak({ text: text.repeat(repeat), ...more });
      if (error) {
        await assert.rejects(asked, (/** @type {any} */ e) => {
          assert.deepEqual([e.name, e.status, e.code], [error.class, error.status, error.code]);
          assert(e instanceof swarClient[error.class] && e instanceof SwarError && e.requestId);
          return true;
        });
      } else {
        const length = (await (await asked).bytes()).length / 48000;
        assert(length >= seconds[0] && length <= seconds[1], `${length} s`);
      }
    });
  }

  test("a take streams, and is saved with its length", async () => {
    const folder = await mkdtemp(join(tmpdir(), "swar-client-"));
    const take = await swar.speak({ text: order, seed: 7, requestId: "take-7" });
    assert.deepEqual([take.seed, take.voice, take.model, take.requestId], [7, "anjura", "espeak-ng-hinglish", "take-7"]);
    await save(take, join(folder, "a.wav"));
    const file = await readFile(join(folder, "a.wav"));
    assert.equal(file.readUInt32LE(4), file.length - 8);
    assert.equal(file.readUInt32LE(40), file.length - 44);
    const again = await swar.speak({ text: order, seed: 7, stream: false });
    assert.deepEqual(Buffer.from(await again.bytes()), file);
    assert.equal(again.trailers.frames, (file.length - 44) / 3840);
    assert.equal(take.trailers, undefined);
    const blob = await (await swar.speak({ text: "Namaste!", format: "opus" })).blob();
    assert.equal(blob.type, "audio/ogg");
    assert.equal((await swar.speak({ text: "Namaste 你" })).unspoken, "你");
    const cut = async function* () {
      yield new Uint8Array(4);
      throw new CutError("cut");
    };
    await assert.rejects(save(cut(), join(folder, "b.wav")), CutError);
    assert.deepEqual(await readdir(folder), ["a.wav"]);
    await rm(folder, { recursive: true });
  });

  test("voices and normalize", async () => {
    const raj = new Swar({ baseUrl: server.url, apiKey: "only-raj" });
    assert.deepEqual((await raj.voices()).map((v) => v.name), ["raj"]);
    assert.match((await raj.normalize("₹499")).normalized, /चार सौ निन्यानबे/);
    const ssml = '<speak><sub alias="ek">1</sub></speak>';
    assert.equal((await raj.normalize(ssml, { inputType: "ssml", lexicon: "none" })).normalized, "ek");
    assert.match((await raj.normalize("OTP 407", { enDigits: true })).normalized, /four zero seven/);
  });

  test("words have times, and make captions", async () => {
    const events = await eventsOf(swar.words({ text: order, format: "pcm16" }));
    assert.equal(events[0].type, "start");
    const end = events.at(-1);
    assert.equal(end.type, "end");
    const words = events.flatMap((e) => (e.type === "words" ? e.words : []));
    assert(words.length > 5 && words.at(-1).end_s <= end.audio_s);
    for (let i = 1; i < words.length; i++) assert(words[i].start_s >= words[i - 1].end_s);
    const bytes = events.reduce((n, e) => n + (e.type === "audio" ? e.pcm.length : 0), 0);
    assert.equal(bytes, end.frames * 3840);
    const vtt = toVTT(events);
    assert.match(vtt, /^WEBVTT\n\n00:00:00\.\d{3} --> 00:00:0\d\.\d{3}\nNamaste! Aapka/);
    assert.equal(vtt.match(/^(?!.*-->).+$/gm).slice(1).join(" "), events[0].normalized);
  });

  test("aborting ends a take at once, and its bill", async () => {
    const leave = new AbortController();
    const take = await swar.speak({ text: long, format: "pcm16", signal: leave.signal });
    const reader = take.getReader();
    await reader.read();
    const why = new Error("the caller left");
    leave.abort(why);
    await assert.rejects(async () => {
      while (!(await reader.read()).done);
    }, why);
    await assert.rejects(swar.speak({ text: long, signal: leave.signal }), why);
  });

  test("letters one by one are spoken as a whole text is", async () => {
    const text = "नमस्ते! आपका OTP 407 है। 😀 धन्यवाद।";
    const socket = await swar.connect();
    const whole = await eventsOf(socket.say(text, { seed: 7 }));
    const u = socket.utterance({ voice: "anjura", timestamps: "words", seed: 7 });
    for (let i = 0; i < text.length; i++) u.append(text[i]); // halves of a smiley too
    u.flush();
    u.finish();
    assert.throws(() => u.append("mehr"), TypeError);
    const events = await eventsOf(u);
    const spoken = events.flatMap((e) => (e.type === "chunk" ? [e.text] : [])).join("");
    assert.equal(spoken.replace(/\s/g, ""), whole[0].normalized.replace(/\s/g, ""));
    assert.equal(events.at(-1).type, "end");
    assert(events.some((e) => e.type === "flushed") && events.some((e) => e.type === "words"));
    socket.close();
  });

  test("clear stops the bill", async () => {
    const socket = await swar.connect();
    const u = socket.say(long.repeat(3)); // some 2,500 frames
    let heard = 0;
    let cleared = false;
    for await (const e of u) {
      if (e.type !== "audio") continue;
      assert(!cleared, "audio after clear");
      if (++heard === 2) u.clear();
      cleared = heard === 2;
    }
    assert(u.cancelled.billed_frames >= u.cancelled.frames && u.cancelled.billed_frames < 2000);
    assert((await socket.say("Namaste!").bytes()).length > 3840, "the socket lives on");
    socket.close();
  });

  test("what is billed is what cancelled says", async () => {
    const before = await server.metric("tts_audio_seconds_total");
    const socket = await swar.connect();
    const u = socket.say(long.repeat(3));
    for await (const e of u) if (e.type === "audio") break; // which clears
    const rest = await eventsOf(u);
    assert(rest.at(-1).type === "cancelled" && !rest.some((e) => e.type === "audio"));
    const billed = (await server.metric("tts_audio_seconds_total")) - before;
    assert.equal(Math.round(billed / 0.08), u.cancelled.billed_frames);
    socket.close();
  });

  test("an utterance that was never fed, or that is aborted", async () => {
    const socket = await swar.connect();
    const none = socket.utterance();
    none.clear();
    assert.deepEqual(await eventsOf(none), []);
    const empty = socket.utterance();
    empty.finish();
    assert.equal((await eventsOf(empty)).at(-1).frames, 0);
    const leave = new AbortController();
    const u = socket.say(long, { signal: leave.signal });
    await assert.rejects(async () => {
      for await (const e of u) if (e.type === "audio") leave.abort();
    }, { name: "AbortError" });
    assert((await socket.say("Namaste!").bytes()).length > 3840);
    await assert.rejects(eventsOf(socket.say("a".repeat(4001))), TextError);
    assert.throws(() => socket.say("a", { signal: leave.signal }), { name: "AbortError" });
    socket.close();
    assert.throws(() => socket.say("a"), CutError);
  });

  test("utterances may be read in any order", async () => {
    const socket = await swar.connect();
    const first = socket.say("Ek do teen.", { seed: 1 });
    const second = socket.say("Namaste!", { seed: 1 });
    const [b, a] = await Promise.all([second.bytes(), first.bytes()]);
    const alone = async (text) => (await swar.speak({ text, seed: 1, format: "pcm16" })).bytes();
    assert.deepEqual(a, await alone("Ek do teen."));
    assert.deepEqual(b, await alone("Namaste!"));
    socket.close();
  });

  test("twenty at once", async () => {
    const patient = new Swar({ baseUrl: server.url, apiKey: "good", maxRetries: 20 });
    const takes = await Promise.all(
      Array.from({ length: 20 }, async () => (await patient.speak({ text: "Namaste!", format: "pcm16" })).bytes()),
    );
    for (const take of takes) assert(take.length > 3840);
  });

  test("a socket says what was wrong with its key", async () => {
    await assert.rejects(new Swar({ baseUrl: server.url, apiKey: "wrong" }).connect(), AuthError);
    await assert.rejects(new Swar({ baseUrl: server.url, apiKey: "no token" }).connect(), AuthError); // of HTTP
    assert.throws(() => new Swar({ apiKey: "नहीं" }), TypeError);
    const leave = new AbortController();
    const socket = await swar.connect({ signal: leave.signal });
    const u = socket.say(long);
    leave.abort();
    await assert.rejects(eventsOf(u), { name: "AbortError" });
  });

  test("a WebSocket that can pause stops reading above 1 MiB", async (t) => {
    const ws = await import("ws").catch(() => /** @type {never} */ (undefined));
    if (!ws) return t.skip("SKIPPED: the package ws is missing");
    let paused = 0;
    let resumed = 0;
    class Counting extends ws.WebSocket {
      pause() {
        paused++;
        super.pause();
      }
      resume() {
        resumed++;
        super.resume();
      }
    }
    const given = new Swar({ baseUrl: server.url, apiKey: "good", WebSocket: Counting });
    const socket = await given.connect();
    const text = long.repeat(3); // more than 2 MiB
    const first = socket.say(text, { seed: 1 });
    const second = socket.say("Namaste!", { seed: 1 });
    while (!paused) await new Promise((resolve) => setTimeout(resolve, 10));
    assert.equal(resumed, 0);
    assert((await second.bytes()).length > 3840, "who waits for the second is not held up by the first");
    const all = await first.bytes();
    assert.deepEqual(all, await (await swar.speak({ text, seed: 1, format: "pcm16" })).bytes());
    socket.close();
  });
});

test("reconnects between utterances, and never inside one", async () => {
  const first = await start();
  const socket = await new Swar({ baseUrl: first.url, apiKey: "good", maxRetries: 5 }).connect();
  assert((await socket.say("Namaste!").bytes()).length > 3840);
  await first.stop(); // which closes with 1001
  const second = await start(first.port);
  assert((await socket.say("Namaste!").bytes()).length > 3840);
  const u = socket.say(long);
  await assert.rejects(async () => {
    for await (const e of u) if (e.type === "audio") await second.stop("SIGKILL");
  }, CutError);
});

/** Runs a server that answers as told. */
async function broken(answer, run) {
  const http = createServer(answer).listen(0, "127.0.0.1");
  await new Promise((resolve) => http.once("listening", resolve));
  try {
    await run(`http://127.0.0.1:${/** @type {any} */ (http.address()).port}`);
  } finally {
    http.closeAllConnections();
    http.close();
  }
}

test("a busy server is asked again, and a cut answer is not", async () => {
  let asked = 0;
  const answer = (_, response) => {
    if (++asked <= 2) {
      response.writeHead(503, { "retry-after": "0", "x-error-code": "busy" }).end('{"error":"busy"}');
      return;
    }
    response.writeHead(200).write("abcd", () => response.destroy());
  };
  await broken(answer, async (baseUrl) => {
    await assert.rejects(new Swar({ baseUrl, maxRetries: 1 }).speak({ text: "Namaste!" }), (e) => {
      assert(e instanceof BusyError && e.retryAfter === 0 && e.message === "busy");
      return true;
    });
    asked = 0;
    const take = await new Swar({ baseUrl }).speak({ text: "Namaste!" });
    let got = "";
    await assert.rejects(async () => {
      for await (const bytes of take) got += new TextDecoder().decode(bytes);
    }, CutError);
    assert.deepEqual([got, asked], ["abcd", 3]);
  });
});

test("what is repeated, and how long a server may be silent", async () => {
  for (const [status, tries] of [[400, 1], [408, 3], [429, 3], [500, 3], [502, 1], [503, 3], [504, 1]]) {
    let asked = 0;
    const answer = (_, response) => {
      asked++;
      response.writeHead(status, { "retry-after": "0" }).end("<h1>a proxy</h1>");
    };
    await broken(answer, async (baseUrl) => {
      await assert.rejects(new Swar({ baseUrl }).voices(), { status, message: "<h1>a proxy</h1>" });
    });
    assert.equal(asked, tries, `status ${status}`);
  }
  const later = (_, response) => response.writeHead(503, { "retry-after": "11" }).end();
  await broken(later, (baseUrl) => assert.rejects(new Swar({ baseUrl }).voices(), { retryAfter: 11 }));
  await broken(() => {}, (baseUrl) => assert.rejects(new Swar({ baseUrl, timeout: 50 }).voices(), { code: "timeout" }));
  const stuck = (_, response) => response.writeHead(200).write("a");
  await broken(stuck, async (baseUrl) => {
    const take = await new Swar({ baseUrl, timeout: 500 }).speak({ text: "a" });
    await assert.rejects(take.bytes(), CutError);
  });
});

test("addresses, and nobody there", async () => {
  const nobody = new Swar({ baseUrl: "127.0.0.1:1", maxRetries: 0 });
  await assert.rejects(nobody.speak({ text: "a" }), /no server answers at http:\/\/127\.0\.0\.1:1/);
  await assert.rejects(nobody.connect(), { code: "unreachable" });
  assert.equal(new Swar({ baseUrl: "tts.example.com/" }).baseUrl, "https://tts.example.com");
  assert.equal(new Swar({ baseUrl: "localhost:8080" }).baseUrl, "http://localhost:8080");
  process.env.SWAR_SERVER = "[::1]:9";
  assert.equal(new Swar().baseUrl, "http://[::1]:9");
  for (const baseUrl of ["ftp://a", "http://", "https://a?b=c"]) assert.throws(() => new Swar({ baseUrl }), TypeError);
});
