// A real server for tests: SWAR_TEST_BINARY is the program swar.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const binary = process.env.SWAR_TEST_BINARY ?? fileURLToPath(new URL("../../../bin/swar", import.meta.url));

/** Starts a server on a port, or on any; keys are `good` and `only-raj`. */
export async function start(port = 0) {
  const data = await mkdtemp(join(tmpdir(), "swar-client-"));
  const child = spawn(
    binary,
    [
      "serve", "--engine", "espeak", "--portal", "off", "--api-key", "good", "--api-key", "only-raj=raj", "--workers", "2", "--oversubscribe",
      "--listen", `127.0.0.1:${port}`, "--data", data, "--log-format", "json",
    ],
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  const exited = once(child, "exit");
  const lines = [];
  const url = await new Promise((resolve, reject) => {
    createInterface({ input: child.stderr }).on("line", (line) => {
      lines.push(line);
      const ready = /"msg":"ready","listen":"([^"]+)"/.exec(line);
      if (ready) resolve("http://" + ready[1]);
    });
    exited.then(() => reject(new Error("the server ended:\n" + lines.join("\n"))));
  });
  return {
    url,
    port: Number(new URL(url).port),
    async metric(name) {
      const text = await (await fetch(url + "/metrics")).text();
      return Number(new RegExp(`^${name} (.*)$`, "m").exec(text)?.[1] ?? 0);
    },
    async stop(/** @type {"SIGTERM" | "SIGKILL"} */ signal = "SIGTERM") {
      child.kill(signal);
      await exited;
      await rm(data, { recursive: true, force: true });
    },
  };
}
