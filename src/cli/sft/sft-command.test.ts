/** What `reverie sft` refuses before it trains. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { collectCommand } from "../collect/index.ts";
import { sftCommand } from "./index.ts";

const folder = mkdtempSync(join(tmpdir(), "reverie-sft-"));
after(() => rmSync(folder, { recursive: true }));
const data = join(folder, "data");
const refused = (args: string[], message: RegExp) =>
  assert.rejects(sftCommand.run(["--data", data, ...args]), (error: Error) => {
    assert.equal(error.name, "UserError");
    assert.match(error.message, message);
    return true;
  });

test("a folder that holds another training is left alone, and one without a training cannot be resumed", async () => {
  const few = ["--tasks", "0", "--episodes", "1", "--workers", "1", "--size", "32", "--out", data];
  await collectCommand.run(["tabletop_object", ...few]);
  const used = join(folder, "used");
  mkdirSync(used);
  writeFileSync(join(used, "step_000075"), "");
  await refused(["--out", used, "--new", "mini"], /used is not empty/);
  assert.deepEqual(readdirSync(used), ["step_000075"]);
  await refused(
    ["--out", join(folder, "unborn"), "--resume"],
    /nothing to resume from.*begin without --resume/,
  );
  assert.deepEqual(readdirSync(folder).sort(), ["data", "used"]);
});

test("wrong settings are named before anything is written", async () => {
  const out = ["--out", join(folder, "unborn")];
  await refused([...out, "--new", "maxi"], /--new is "maxi"; there is: mini/);
  await refused(
    [...out, "--new", "mini", "--set", "clip_gard=1"],
    /clip_gard: no such setting; did you mean clip_grad/,
  );
  await refused([...out, "--new", "mini", "--steps", "many"], /steps: expected number, found "many"/);
  await refused(out, /begin with either --new mini or --model DIR/);
});
