import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { keepNewest, listCheckpoints, newestWhole, writeCheckpoint } from "./folder.ts";
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
  ["no manifest", (folder) => rmSync(join(folder, "manifest.json")), /never finished/],
  ["a torn manifest", (folder) => writeFileSync(join(folder, "manifest.json"), '{"for'), /manifest\.json/],
];
for (const [what, damage, message] of damages) {
  test(`${what} is found and told, and the checkpoint before is used instead`, async () => {
    const root = fresh();
    await writeCheckpoint(root, 1, fill("a"));
    const { folder } = await writeCheckpoint(root, 2, fill("b"));
    damage(folder);
    assert.match(findDamage(folder).join("\n"), message);
    const said: string[] = [];
    assert.equal(newestWhole(root, (line) => said.push(line))?.step, 1);
    assert.match(said.join(), /global_step_2 is damaged/);
  });
}

test("a write that fails leaves nothing behind, and what a crash left is swept away", async () => {
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
