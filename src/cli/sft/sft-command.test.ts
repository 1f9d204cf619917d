/** What `reverie sft` refuses before it trains, and how it stops. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { SftRun } from "#sft";
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
    /nothing whole to resume from.*begin without --resume/,
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

test("a training that is told to stop saves the steps that it has done", async () => {
  const program = fileURLToPath(new URL("../../../bin/reverie.mjs", import.meta.url));
  const words = [
    "sft",
    "--data",
    data,
    "--new",
    "mini",
    "--out",
    join(folder, "stopped"),
    "--steps",
    "5000",
    "--batch",
    "1",
    "--report-every",
    "1",
  ];
  const child = spawn(process.execPath, [program, ...words], {
    env: { ...process.env, OMP_NUM_THREADS: "1" },
  });
  let text = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (piece: Buffer) => {
      if (!/^step 1 /m.test(text) && /^step 1 /m.test(text + piece)) child.kill("SIGTERM");
      text += piece;
    });
  const code = await new Promise((resolve) => child.on("close", resolve));
  assert.equal(code, 143, text);
  assert.match(text, /stopped after \d+ of 5000 steps; go on with: the same command and --resume/);
  assert.match(readdirSync(join(folder, "stopped", "resume")).join(), /^global_step_\d+,latest$/);
});

const few = ["--new", "mini", "--batch", "1", "--checkpoint-every", "1", "--seed", "1"];
const outOf = (name: string): string => join(folder, name);
const sft = (name: string, ...args: string[]) =>
  sftCommand.run(["--data", data, "--out", outOf(name), ...few, ...args]);

test("a training that ends between its weights and its optimizer's state goes on from the step before, to the bit", async (context) => {
  await sft("straight", "--steps", "3", "--store", "same");
  const { state } = SftRun.prototype;
  context.mock.method(SftRun.prototype, "state", function (this: SftRun) {
    if (this.step === 2 && existsSync(join(outOf("cut"), "step_000002"))) throw new Error("killed");
    return state.call(this);
  });
  await assert.rejects(sft("cut", "--steps", "3", "--store", "same"), /killed/);
  context.mock.restoreAll();
  await sft("cut", "--steps", "3", "--store", "same", "--resume");
  const weights = (name: string): string =>
    createHash("sha256")
      .update(readFileSync(join(outOf(name), "step_000003", "model.safetensors")))
      .digest("hex");
  assert.equal(weights("cut"), weights("straight"));
});

test("a training that goes on says what was changed, and refuses another seed or model, with both values", async (context) => {
  await sft("changed", "--steps", "1");
  const refusedChange = (args: string[], message: RegExp) =>
    assert.rejects(sft("changed", "--steps", "1", "--resume", ...args), message);
  await refusedChange(["--seed", "2"], /seed: 1 before, 2 now/);
  await refusedChange(["--model-set", "text_width=64"], /model_set\.text_width: unset before, 64 now/);
  const said = context.mock.method(console, "log", () => {});
  await sft("changed", "--steps", "2", "--lr", "0.002", "--resume");
  const lines = said.mock.calls.map(({ arguments: [line] }) => String(line)).join("\n");
  assert.match(lines, /lr: 0\.001 before, 0\.002 now/);
  assert.match(lines, /steps: 1 before, 2 now/);
  assert.doesNotMatch(lines, /(data|seed|base|precision): /);
});

test("weights that are no numbers are not saved, and the last good checkpoint is named", async () => {
  const ruin = ["--lr", "1e39", "--set", "lr_warmup_steps=0"];
  await assert.rejects(
    sft("ruined", "--steps", "1", ...ruin),
    /step 1 has left .*not saved(.|\n)*no checkpoint yet/,
  );
  assert.ok(!existsSync(join(outOf("ruined"), "step_000001")));
  await assert.rejects(
    sft("changed", "--steps", "3", ...ruin, "--resume"),
    /step 3 has left (NaN|infinity) in .*not saved(.|\n)*last good checkpoint is .*step_000002/,
  );
  assert.deepEqual(readdirSync(join(outOf("changed"), "resume")), ["global_step_2", "latest"]);
});

test("a resume point that was damaged is not gone on from", async () => {
  const [point = ""] = readdirSync(join(outOf("straight"), "resume"));
  writeFileSync(join(outOf("straight"), "resume", point, "training.safetensors"), "half");
  await assert.rejects(
    sft("straight", "--steps", "4", "--resume"),
    /nothing whole to resume from(.|\n)*training\.safetensors has 4 bytes/,
  );
});
