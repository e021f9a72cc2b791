// The client in Chromium.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { test } from "node:test";
import { start } from "./server.mjs";

const chromium = (process.env.PATH ?? "")
  .split(delimiter)
  .flatMap((folder) => ["chromium", "chromium-browser", "google-chrome"].map((name) => join(folder, name)))
  .find((file) => existsSync(file));

/** Runs in the page; what it returns is what the test looks at. */
async function inPage(baseUrl) {
  const at = (path) => import(path);
  const { Swar } = await at("/dist/index.js");
  const { play } = await at("/dist/browser.js");
  const swar = new Swar({ baseUrl, apiKey: "good" });
  const text = "Yeh ek lamba vaakya hai jo bahut der tak chalta hai. ".repeat(60);

  const whole = await (await swar.speak({ text: "Namaste!", seed: 7, format: "pcm16" })).bytes();
  const blob = await (await swar.speak({ text: "Namaste!", seed: 7 })).blob();
  const sound = new Audio(URL.createObjectURL(blob));
  await new Promise((resolve, reject) => {
    sound.onloadedmetadata = resolve;
    sound.onerror = reject;
  });
  const refused = await new Swar({ baseUrl, apiKey: "wrong" }).connect().catch((e) => e.name + " " + e.status);
  const socket = await swar.connect();
  const said = await socket.say("Namaste!", { seed: 7 }).bytes();

  // Every block of samples that leaves the player, and whether it sounds.
  const context = new AudioContext({ sampleRate: 24000 });
  const recorder = `registerProcessor("recorder", class extends AudioWorkletProcessor {
    process([[heard]], [[out]]) {
      if (heard) out.set(heard);
      this.port.postMessage({ at: currentTime, sounds: !!heard && heard.some((v) => v !== 0) });
      return true;
    }
  });`;
  await context.audioWorklet.addModule(URL.createObjectURL(new Blob([recorder], { type: "text/javascript" })));
  const output = new AudioWorkletNode(context, "recorder");
  output.connect(context.destination);
  let last = 0;
  let first = 0;
  output.port.onmessage = ({ data }) => {
    if (data.sounds) last = data.at + 128 / 24000; // where the block ends
    if (data.sounds) first ||= data.at;
  };
  const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

  const stops = [];
  let cancelled;
  for (let i = 0; i < 4; i++) {
    const u = socket.say(text);
    first = 0;
    const player = await play(u, { context, output });
    while (!first || context.currentTime - first < 0.2) await wait(5);
    const stopped = context.currentTime;
    const played = player.stop();
    await player.done;
    await wait(100);
    for (let n = 0; n < 100 && !u.cancelled; n++) await wait(10);
    cancelled = u.cancelled;
    stops.push({ after: last - stopped, played });
  }

  const began = context.currentTime;
  const player = await play(await swar.speak({ text: "Namaste!", seed: 7 }), { context, output });
  await player.done;
  const stream = { played: player.played, took: context.currentTime - began };
  const opus = await (await play(await swar.speak({ text: "Namaste!", format: "opus" }), { context })).done.catch((e) => e.message);
  socket.close();
  return { whole: whole.length, duration: sound.duration, refused, said: said.length, stops, cancelled, stream, opus };
}

test("Chromium speaks, plays, and is silent at once", { timeout: 60_000 }, async (t) => {
  if (!chromium) return t.skip("SKIPPED: Chromium is missing, the browser is NOT TESTED");
  const server = await start();
  let told;
  const result = new Promise((resolve) => (told = resolve));
  const site = createServer(async (request, response) => {
    const { pathname } = new URL(request.url, "http://localhost");
    if (pathname === "/result") {
      let body = "";
      for await (const piece of request) body += piece;
      response.end();
      told(JSON.parse(body));
    } else if (/^\/dist\/\w+\.js$/.test(pathname)) {
      response.writeHead(200, { "content-type": "text/javascript" }).end(await readFile(new URL(".." + pathname, import.meta.url)));
    } else {
      response.writeHead(200, { "content-type": "text/html" }).end(`<!doctype html><meta charset="utf-8"><script type="module">
        const tell = (body) => fetch("/result", { method: "POST", body: JSON.stringify(body) });
        (${inPage})(${JSON.stringify(server.url)}).then(tell, (e) => tell({ failed: String(e && e.stack || e) }));
      </script>`);
    }
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => site.once("listening", resolve));
  const profile = await mkdtemp(join(tmpdir(), "swar-chromium-"));
  const browser = spawn(chromium, [
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--no-first-run", "--autoplay-policy=no-user-gesture-required", `--user-data-dir=${profile}`,
    `http://127.0.0.1:${/** @type {any} */ (site.address()).port}/`,
  ], { stdio: "ignore" });
  const exited = new Promise((resolve) => browser.once("exit", resolve));
  try {
    const got = await result;
    assert.equal(got.failed, undefined);
    assert.equal(got.said, got.whole);
    assert.equal(got.duration, got.whole / 48000, "a blob states its length");
    assert.equal(got.refused, "AuthError 401");
    const soonest = Math.min(...got.stops.map((s) => s.after)); // the others waited for this machine
    t.diagnostic(`silent after ${got.stops.map((s) => (s.after * 1000).toFixed(1)).join(", ")} ms`);
    assert(soonest < 0.02, `silent after ${soonest} s`);
    for (const { played } of got.stops) assert(played > 0.1 && played < 2, `${played} s played`);
    assert.equal(got.cancelled.type, "cancelled", "the server has stopped too");
    assert.equal(got.stream.played, got.whole / 48000);
    assert(got.stream.took >= got.stream.played);
    assert.match(got.opus, /Opus cannot be played/);
  } finally {
    browser.kill("SIGKILL");
    await exited;
    site.closeAllConnections();
    site.close();
    await server.stop();
    await rm(profile, { recursive: true, force: true, maxRetries: 5 });
  }
});
