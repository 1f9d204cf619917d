/** What `reverie sft` refuses before it trains, and how it stops. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
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
  assert.ok(existsSync(join(folder, "stopped", "resume", "training.safetensors")));
});
