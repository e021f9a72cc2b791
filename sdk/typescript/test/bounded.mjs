// Bounds how long a script may take: node --import ./bounded.mjs SCRIPT. One that hangs prints what keeps it alive and where
// its own functions await, and ends with 124. SWAR_TEST_BOUND is the bound in seconds.
import { writeSync } from "node:fs";
import { promiseHooks } from "node:v8";

const bound = Number(process.env.SWAR_TEST_BOUND ?? 300);
/** Promises that wait, with the stacks where they were made. @type {Map<Promise<unknown>, Error>} */
const pending = new Map();
promiseHooks.createHook({
  init: (promise) => void pending.set(promise, new Error()),
  settled: (promise) => void pending.delete(promise),
});

/** Prints a line at once. */
const say = (/** @type {string} */ line) => writeSync(2, line + "\n");

/** Prints the stacks of the promises that wait, by the functions that are not Node's or of a package. */
function awaited() {
  const stacks = [...pending.values()].map(({ stack }) => stack?.split("\n").slice(2) ?? []);
  const own = stacks.map((lines) => lines.filter((line) => !/node:|node_modules|bounded\.mjs|<anonymous>\)$/.test(line)).join("\n"));
  for (const place of new Set(own.filter(Boolean))) say(`awaits\n${place}`);
}

setTimeout(() => {
  say(`\n*** ${process.argv[1]} hangs: it has taken ${bound} s ***`);
  say(`alive: ${process.getActiveResourcesInfo().join(", ")}`);
  // @ts-expect-error It has no types, and no other name.
  for (const { remoteAddress, remotePort, localPort, readyState } of process._getActiveHandles()) {
    if (remoteAddress) say(`  connection from port ${localPort} to ${remoteAddress}:${remotePort}: ${readyState}`);
  }
  awaited();
  process.exit(124);
}, bound * 1000).unref();

process.once("beforeExit", () =>
  process.once("exit", (status) => {
    if (status !== 13) return; // which Node says when nothing is left that could settle the script's own await
    say(`\n*** ${process.argv[1]} hangs: nothing is left that it waits for ***`);
    awaited();
  }),
);
