import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { UserError } from "#registry";
import { worldCommand } from "./index.ts";

const folder = mkdtempSync(join(tmpdir(), "reverie-world-cli-"));
after(() => rmSync(folder, { recursive: true }));

const cases: readonly (readonly [string, readonly string[], RegExp])[] = [
  ["an unknown step", ["bake"], /world what\? there are: make, collect, .*train-vae.*evaluate/],
  ["no recordings", ["train-vae", "--world", "w"], /which recordings\?.*--data DIR/],
  ["no world", ["train", "--data", "d"], /which world\?/],
  [
    "a device that does not exist",
    ["train", "--data", "d", "--world", "w", "--device", "tpu"],
    /expected cpu, cuda/,
  ],
  [
    "a folder without recordings",
    ["train", "--data", folder, "--world", join(folder, "w")],
    /no dataset\.json/,
  ],
  [
    "a setting without a value",
    ["train", "--data", "d", "--world", "w", "--set", "depth"],
    /expected KEY=VALUE/,
  ],
  [
    "minutes that are not a number",
    ["train", "--data", "d", "--world", "w", "--minutes", "soon"],
    /--minutes/,
  ],
  [
    "a family that nobody trains",
    ["train", "--data", "d", "--world", "w", "--family", "sora"],
    /family "sora" cannot be trained; these can: evac, opensora, wan/,
  ],
  ["an unknown suite", ["collect", "kitchen", "--out", join(folder, "a")], /no suite named "kitchen"/],
  ["no place to record to", ["collect", "tabletop_object"], /--out DIR/],
  [
    "a policy that is none",
    ["collect", "tabletop_object", "--out", join(folder, "b"), "--policy", folder],
    /no config\.json/,
  ],
  [
    "strange temperatures",
    ["collect", "tabletop_object", "--out", join(folder, "c"), "--policy", folder, "--temperatures", "warm"],
    /no config\.json|--temperatures/,
  ],
  [
    "evaluation against nothing",
    ["evaluate", "--world", folder, "--policy", folder],
    /holds no world|evaluate against what/,
  ],
];

for (const [what, argv, message] of cases) {
  test(`${what} is answered with what to do`, async () => {
    await assert.rejects(worldCommand.run([...argv]), (error: unknown) => {
      assert.ok(error instanceof UserError, String(error));
      assert.match(error.message, message);
      return true;
    });
  });
}
