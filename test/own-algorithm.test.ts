/** An algorithm that comes from outside (fixtures/plugins/reinforce.ts): registered, it is all that a shipped one is. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { algorithms } from "#algorithms";
import { readMetricsFile } from "#metrics";
import { Run, readRun, silent, train } from "#training";
import { kinds } from "../src/cli/list/kinds.ts";
import { reinforce } from "./fixtures/plugins/reinforce.ts";
import { tinyCheckpoint, tinyOverrides } from "./support/tiny-run.ts";

const config = fileURLToPath(new URL("./fixtures/plugins/reinforce.yaml", import.meta.url));
const read = (...overrides: string[]) => readRun(config, { overrides });

test("before it is registered, a configuration that names it is told what there is", async () => {
  await assert.rejects(
    read(),
    /algorithm\.adv_type: no algorithm .* named "reinforce"; there are: gae, grpo/,
  );
});

test("registered, it is listed, and its name cannot be taken again", async () => {
  algorithms.register("reinforce", async () => reinforce);
  assert.throws(() => algorithms.register("reinforce", async () => reinforce), /already registered/);
  assert.throws(() => algorithms.register("grpo", async () => reinforce), /already registered/);
  const row = (await kinds.algorithms?.())?.find((each) => each.adv_type === "reinforce");
  assert.deepEqual(row, {
    adv_type: "reinforce",
    method: "reinforce",
    loss_type: "actor",
    critic: false,
    groups: false,
  });
});

test("its own settings are checked by its own schema, and those of other algorithms are refused", async () => {
  assert.equal((await read()).config.algorithm.baseline, 0.5);
  await assert.rejects(read("algorithm.baseline=much"), /algorithm\.baseline: .*number/);
  await assert.rejects(read("+algorithm.clip_ratio_low=0.2"), /algorithm\.clip_ratio_low/);
  await assert.rejects(read("algorithm.loss_type=actor_critic"), /reinforce has no critic/);
});

test("a policy learns by its advantages and its loss", async () => {
  const logs = mkdtempSync(join(tmpdir(), "reverie-own-algorithm-"));
  const model = tinyCheckpoint(["tabletop_spatial"], "tabletop");
  const run = await Run.open(await read(...tinyOverrides({ model, logs, steps: 1, group: 1 })), silent);
  await train(run);
  await run.close();
  const metrics = readMetricsFile(join(logs, "metrics.jsonl"))[0]?.metrics ?? {};
  // An untrained policy earns nothing: every advantage is 0 − 0.5, and its tokens, one of 256 each, become less likely.
  assert.equal(metrics["rollout/advantages_max"], -0.5);
  assert.equal(metrics["rollout/advantages_min"], -0.5);
  assert.ok(Math.abs((metrics["train/actor/policy_loss"] ?? 0) + 0.5 * Math.log(256)) < 0.3);
  assert.ok((metrics["train/actor/grad_norm"] ?? 0) > 0);
  assert.equal("train/actor/ratio" in metrics, false); // its loss has none
  for (const folder of [logs, model]) rmSync(folder, { recursive: true });
});
