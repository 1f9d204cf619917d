/** A world's unfinished training survives a careless call, and weights that are no numbers are not written. */
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { collectCommand } from "../collect/index.ts";
import { worldCommand } from "./index.ts";

const folder = mkdtempSync(join(tmpdir(), "reverie-unfinished-"));
after(() => rmSync(folder, { recursive: true }));
const [data, world] = [join(folder, "data"), join(folder, "world")];
const [unfinished, finished] = ["resume", "finished"].map((kind) =>
  join(world, `train-vae.${kind}.safetensors`),
) as [string, string];

const train = (...args: string[]) =>
  worldCommand.run([
    ...["train-vae", "--data", data, "--world", world, "--batch", "2"],
    ...["--set", "block_out_channels=[8,16]", "--set", "norm_num_groups=4", ...args],
  ]);
const weights = (): Buffer =>
  readFileSync(
    join(world, "vae", readdirSync(join(world, "vae")).find((name) => /safetensors$/.test(name))!),
  );

before(async () => {
  const few = ["--tasks", "0", "--episodes", "1", "--workers", "1", "--size", "16", "--out", data];
  await collectCommand.run(["tabletop_object", ...few]);
  await train("--steps", "2");
});

test("a part that was finished may be trained anew, and goes on with more steps", async (context) => {
  assert.ok(existsSync(finished) && !existsSync(unfinished));
  await train("--steps", "2");
  const lines = context.mock.method(console, "log", () => {});
  await train("--steps", "3", "--resume");
  assert.doesNotMatch(lines.mock.calls.map((call) => call.arguments.join()).join("\n"), /begins at step 0/);
  assert.ok(existsSync(finished) && !existsSync(unfinished));
});

test("an unfinished training is not replaced by a new one: both commands are named", async () => {
  renameSync(finished, unfinished); // as a training that was stopped leaves it
  const kept = readFileSync(unfinished);
  await assert.rejects(train("--steps", "2"), /unfinished training(.|\n)*--resume(.|\n)*mv .*set-aside/);
  assert.deepEqual(readFileSync(unfinished), kept);
  await train("--steps", "4", "--resume");
  assert.ok(!existsSync(unfinished));
});

test("a step that leaves no numbers writes neither weights nor a file to go on from", async () => {
  const good = weights();
  await assert.rejects(
    train("--steps", "1", "--lr", "1e39", "--set", "lr_warmup_steps=0"),
    /training has left (NaN|infinity) in weights\..* by step 1: nothing is written/,
  );
  assert.deepEqual(weights(), good);
  assert.ok(!existsSync(unfinished));
});

test("a training does not go on with another network than it began with", async () => {
  const sizes = ["--set", "block_out_channels=[16,16]"];
  await assert.rejects(
    train("--steps", "9", "--resume", ...sizes),
    /is of another network: \S+ is \[8\b.*\] there, and \[16\b/,
  );
  await assert.rejects(train("--steps", "9"), /unfinished training/, "and is still there to go on from");
});
