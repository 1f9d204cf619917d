import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";

const script = fileURLToPath(new URL("./setup.mjs", import.meta.url));
const setUp = (args: string[], env: NodeJS.ProcessEnv = {}) =>
  spawnSync(process.execPath, [script, ...args], { encoding: "utf8", env: { ...process.env, ...env } });

/** A checkout with the set-up script and nothing else, so that tests can leave it in any state. */
const bare = mkdtempSync(join(tmpdir(), "reverie-setup-"));
cpSync(dirname(script), join(bare, "scripts"), { recursive: true });
after(() => rmSync(bare, { recursive: true, force: true }));
const bareModule = (name: string) => import(pathToFileURL(join(bare, "scripts", "setup", name)).href);

function write(path: string, content: string): void {
  mkdirSync(dirname(join(bare, path)), { recursive: true });
  writeFileSync(join(bare, path), content);
}

test("a finished set-up does nothing, in under 2 s", () => {
  const start = performance.now();
  const { status, stderr } = setUp([]);
  assert.equal(status, 0, stderr);
  assert.match(stderr, /set-up is in place/);
  assert.ok(performance.now() - start < 2000);
});

test("quiet, a finished set-up prints nothing", () => {
  const { stderr, stdout } = setUp(["--quiet"]);
  assert.equal(stderr + stdout, "");
});

test("a REVERIE_TORCH that holds no torch is refused by name, and nothing is fetched", () => {
  const { status, stderr } = setUp([], { REVERIE_TORCH: bare });
  assert.equal(status, 1);
  assert.match(stderr, /REVERIE_TORCH is .*reverie-setup-.*holds no lib\/libtorch_cpu\.so/);
});

test("an option that does not exist is refused", () => {
  const { status, stderr } = setUp(["--fast"]);
  assert.equal(status, 1);
  assert.match(stderr, /--fast/);
});

test("packages count as installed only when npm finished and the versions are the lockfile's", async () => {
  const { npmPackages } = await bareModule("npm-packages.mjs");
  const lock = (version: string) =>
    JSON.stringify({
      packages: { "": {}, "node_modules/a": { version }, "node_modules/b": { version, optional: true } },
    });
  write("package-lock.json", lock("2.0.0"));
  write("node_modules/a/package.json", "{}");
  assert.equal(npmPackages.isDone(), false, "npm was interrupted");
  write("node_modules/.package-lock.json", lock("1.0.0"));
  assert.equal(npmPackages.isDone(), false, "an older lockfile was installed");
  write(
    "node_modules/.package-lock.json",
    JSON.stringify({ packages: { "node_modules/a": { version: "2.0.0" } } }),
  );
  assert.equal(npmPackages.isDone(), true, "an optional package for another platform may be absent");
  rmSync(join(bare, "node_modules/a"), { recursive: true });
  assert.equal(npmPackages.isDone(), false, "a package's folder is gone");
});

test("a wheel whose installation was cut off counts as not installed", async () => {
  const { installedInfo } = await bareModule("pip.mjs");
  const info = ".deps/venv/lib/python3.11/site-packages/torch-2.13.0+cpu.dist-info";
  write(`${info}/METADATA`, "Name: torch");
  assert.equal(installedInfo("torch"), undefined);
  write(`${info}/RECORD`, "");
  assert.equal(installedInfo("torch").version, "2.13.0+cpu");
});

test("a lock left by a set-up that was killed is taken over", async () => {
  const { takeLock } = await bareModule("lock.mjs");
  write(".deps/setup.lock", JSON.stringify({ pid: process.pid, started: "1" })); // our id, another start time
  const giveBack = await takeLock({ note: assert.fail });
  assert.equal(JSON.parse(readFileSync(join(bare, ".deps/setup.lock"), "utf8")).pid, process.pid);
  giveBack();
  assert.equal(existsSync(join(bare, ".deps/setup.lock")), false);
});

test("while one set-up holds the lock another waits, and goes on when it ends", async () => {
  const { takeLock } = await bareModule("lock.mjs");
  const module = pathToFileURL(join(bare, "scripts", "setup", "lock.mjs")).href;
  const holder = spawn(process.execPath, [
    "--input-type=module",
    "--eval",
    `import { takeLock } from ${JSON.stringify(module)}; await takeLock({}); console.log("held"); setTimeout(() => {}, 60000)`,
  ]);
  await new Promise((resolve) => holder.stdout.once("data", resolve));
  let waited = "";
  const taken = takeLock({
    note: (text: string) => {
      waited = text;
      holder.kill("SIGKILL");
    },
  });
  (await taken)();
  assert.match(waited, new RegExp(`waiting for another set-up \\(process ${holder.pid}\\)`));
});
