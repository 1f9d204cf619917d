import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { keepNewest, listCheckpoints, writeCheckpoint } from "./folder.ts";
import { findDamage } from "./manifest.ts";

const fresh = (): string => mkdtempSync(join(tmpdir(), "reverie-checkpoints-"));
const fill =
  (text: string) =>
  async (folder: string): Promise<void> => {
    mkdirSync(join(folder, "actor"));
    writeFileSync(join(folder, "actor", "weights"), text);
    writeFileSync(join(folder, "state.json"), "{}");
  };

test("a checkpoint is there as a whole, and latest points at it", async () => {
  const root = fresh();
  await writeCheckpoint(root, 5, fill("a"));
  const { folder } = await writeCheckpoint(root, 10, fill("b"));
  assert.deepEqual(findDamage(folder), []);
  assert.equal(readlinkSync(join(root, "latest")), "global_step_10");
  assert.deepEqual(
    listCheckpoints(root).map(({ step }) => step),
    [5, 10],
  );
});

const damages: [string, (folder: string) => void, RegExp][] = [
  [
    "a changed byte",
    (folder) => writeFileSync(join(folder, "actor/weights"), "x"),
    /actor\/weights .*SHA-256/,
  ],
  ["a cut file", (folder) => writeFileSync(join(folder, "actor/weights"), ""), /has 0 bytes, expected 1/],
  ["a missing file", (folder) => rmSync(join(folder, "state.json")), /state\.json is missing/],
  ["an extra file", (folder) => writeFileSync(join(folder, "new"), ""), /new is not in the manifest/],
  [
    "an extra file with a name that every object knows",
    (folder) => writeFileSync(join(folder, "toString"), ""),
    /toString is not in the manifest/,
  ],
  [
    "an extra link",
    (folder) => symlinkSync("state.json", join(folder, "linked")),
    /linked is not in the manifest/,
  ],
  [
    "a file that became a link",
    (folder) => {
      renameSync(join(folder, "state.json"), join(folder, "..", "elsewhere"));
      symlinkSync("../elsewhere", join(folder, "state.json"));
    },
    /state\.json is not a file any more/,
  ],
  ["no manifest", (folder) => rmSync(join(folder, "manifest.json")), /never finished/],
  ["a torn manifest", (folder) => writeFileSync(join(folder, "manifest.json"), '{"for'), /manifest\.json/],
];
for (const [what, damage, message] of damages) {
  test(`${what} is found and told`, async () => {
    const { folder } = await writeCheckpoint(fresh(), 2, fill("b"));
    damage(folder);
    assert.match(findDamage(folder).join("\n"), message);
  });
}

test("a write that fails leaves nothing behind, and what a crash left is removed", async () => {
  const root = fresh();
  const failing = writeCheckpoint(root, 1, async (folder) => {
    writeFileSync(join(folder, "half"), "");
    throw new Error("disk full");
  });
  await assert.rejects(failing, /disk full/);
  assert.deepEqual(readdirSync(root), []);
  mkdirSync(join(root, ".global_step_1.999.tmp"));
  await writeCheckpoint(root, 2, fill("a"));
  assert.deepEqual(readdirSync(root).sort(), ["global_step_2", "latest"]);
});

test("only the newest are kept, where asked", async () => {
  const root = fresh();
  for (const step of [1, 2, 3]) await writeCheckpoint(root, step, fill("a"));
  keepNewest(root, 0);
  assert.equal(listCheckpoints(root).length, 3);
  keepNewest(root, 2);
  assert.ok(!existsSync(join(root, "global_step_1")));
  assert.equal(listCheckpoints(root).length, 2);
});

test("a step that is done again replaces its checkpoint", async () => {
  const root = fresh();
  await writeCheckpoint(root, 1, fill("a"));
  const { folder } = await writeCheckpoint(root, 1, fill("bb"));
  assert.deepEqual(findDamage(folder), []);
  assert.deepEqual(readdirSync(root).sort(), ["global_step_1", "latest"]);
});

test("a checkpoint that was given another number is found, and told by its own", async () => {
  const root = fresh();
  const { folder } = await writeCheckpoint(root, 2, async (path) =>
    writeFileSync(join(path, "state.json"), '{"step": 2}'),
  );
  assert.deepEqual(findDamage(folder), []);
  renameSync(folder, join(root, "global_step_4"));
  assert.match(
    findDamage(join(root, "global_step_4")).join(),
    /holds step 2, .*renamed: it is global_step_2/,
  );
});
