/** Two commands never write into one folder, and a folder that cannot be made is refused at once. */
import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { collectCommand } from "./collect/index.ts";
import { inEmptyFolder, inOwnFolder } from "./own-folder.ts";
import { sftCommand } from "./sft/index.ts";
import { worldCommand } from "./world/index.ts";

const folder = mkdtempSync(join(tmpdir(), "reverie-own-"));
after(() => rmSync(folder, { recursive: true }));

/** A folder that a process on another machine, which cannot be asked, has locked. */
function taken(name: string, lock = ".run.lock"): string {
  const path = join(folder, name);
  mkdirSync(path);
  const holder = {
    token: "theirs",
    pid: 1,
    started: null,
    boot: null,
    host: "elsewhere",
    what: "another command",
  };
  writeFileSync(join(path, lock), JSON.stringify({ ...holder, since: "2026-01-01T00:00:00Z" }));
  return path;
}

test("a folder that holds something is not written into, and one that is new is locked while it is filled", async () => {
  const out = join(folder, "new", "deep");
  await inEmptyFolder(out, "a test", async (path) => {
    assert.equal(path, out);
    assert.deepEqual(readdirSync(out), [".run.lock"]);
    writeFileSync(join(out, "file"), "");
  });
  assert.deepEqual(readdirSync(out), ["file"]);
  await assert.rejects(
    inEmptyFolder(out, "a test", async () => {}),
    /is not empty; give another --out/,
  );
  assert.deepEqual(readdirSync(out), ["file"]);
});

test("a folder that the system does not make is refused in words, and at once", async () => {
  const refused = /the folder \/proc\/x(\/y)? cannot be made/;
  await assert.rejects(
    inOwnFolder("/proc/x/y", { what: "a test" }, async () => {}),
    refused,
  );
  await assert.rejects(
    worldCommand.run(["train", "--data", folder, "--world", "/proc/x"]),
    /the folder \/proc\/x cannot be made/,
  );
  await assert.rejects(
    worldCommand.run(["evaluate", "--data", folder, "--world", folder, "--out", "/proc/x"]),
    refused,
  );
});

test("collect, world collect and sft leave a folder alone that another command writes into", async () => {
  const [first, second, third] = ["a", "b", "c"].map((name) => taken(name)) as [string, string, string];
  const inUse = /is in use by another command \(process 1 on elsewhere/;
  const few = ["--episodes", "1", "--workers", "1"];
  await assert.rejects(collectCommand.run(["tabletop_object", ...few, "--out", first]), inUse);
  await assert.rejects(worldCommand.run(["collect", "tabletop_object", ...few, "--out", second]), inUse);
  const data = join(folder, "data");
  await collectCommand.run(["tabletop_object", ...few, "--tasks", "0", "--size", "16", "--out", data]);
  assert.ok(!existsSync(join(data, ".run.lock")), "the folder is free again");
  await assert.rejects(sftCommand.run(["--data", data, "--new", "mini", "--out", third]), inUse);
  for (const out of [first, second, third]) assert.deepEqual(readdirSync(out), [".run.lock"]);
});

test("a world is refreshed by one command at a time", async () => {
  const world = join(taken("worlds", ".mine.refresh.lock"), "mine");
  mkdirSync(join(world, "vae"), { recursive: true });
  const data = join(folder, "data");
  const argv = ["refresh", "--data", data, "--exam", data, "--world", world];
  await assert.rejects(worldCommand.run(argv), /is in use by another command/);
  assert.deepEqual(readdirSync(world), ["vae"]);
});

test("the same part of a world is trained by one command at a time", async () => {
  const world = taken("w", ".train-vae.lock");
  const data = join(folder, "data");
  await assert.rejects(
    worldCommand.run(["train-vae", "--data", data, "--world", world]),
    /is in use by another command/,
  );
  await assert.rejects(
    worldCommand.run(["train", "--data", data, "--world", world, "--steps", "1"]),
    (error: Error) => !/is in use/.test(error.message),
    "another part is free; it misses the autoencoder",
  );
});
