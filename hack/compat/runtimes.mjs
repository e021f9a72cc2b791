// The TypeScript client of sdk/typescript on Bun and Deno: compiled by Node, which then runs runtimes_cases.mjs on both.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const bin = join(here, "node_modules/.bin");
const client = join(here, "build");
rmSync(client, { recursive: true, force: true });
cpSync("sdk/typescript", client, { recursive: true, filter: (path) => !/node_modules|dist$/.test(path) });
execFileSync(join(bin, "tsc"), { cwd: client, stdio: "inherit" });
const link = join(here, "node_modules/@swar/client");
mkdirSync(dirname(link), { recursive: true });
rmSync(link, { recursive: true, force: true });
symlinkSync(client, link);
cpSync("sdk/cases.json", join(here, "cases.json"));
for (const [name, ...args] of [["bun", "run"], ["deno", "run", "--allow-all", "--quiet"]]) {
  execFileSync(join(bin, name), [...args, join(here, "runtimes_cases.mjs")], { stdio: "inherit", timeout: 120_000 });
}
