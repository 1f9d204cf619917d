/** The configuration that docs/algorithms/grpo.md shows under "DAPO as settings of GRPO", read from there and run. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { readMetricsFile } from "#metrics";
import { Run, readRun, silent, train } from "#training";
import { tinyCheckpoint, tinyOverrides } from "./support/tiny-run.ts";

const page = readFileSync(new URL("../docs/algorithms/grpo.md", import.meta.url), "utf8");
const [, shown = ""] = /## DAPO as settings of GRPO[\s\S]*?```yaml\n([\s\S]*?)```/.exec(page) ?? [];

test("the DAPO configuration of the docs trains, and collects again up to its bound while groups are dead", async () => {
  const logs = mkdtempSync(join(tmpdir(), "reverie-dapo-"));
  const model = tinyCheckpoint(["tabletop_spatial"], "tabletop");
  const file = join(logs, "dapo.yaml");
  writeFileSync(file, shown);
  const checked = await readRun(file, { overrides: tinyOverrides({ model, logs, steps: 1 }) });
  const { algorithm } = checked.config;
  assert.deepEqual(
    ["clip_ratio_low", "clip_ratio_high", "clip_ratio_c", "loss_agg_func", "filter_dead_groups"].map(
      (key) => algorithm[key],
    ),
    [0.2, 0.28, null, "token-mean", true],
  );
  const run = await Run.open(checked, silent);
  await train(run);
  await run.close();
  const [step] = readMetricsFile(join(logs, "metrics.jsonl"));
  // An untrained policy never succeeds: every group is dead, in the first collection and in three more.
  assert.equal(step?.metrics["rollout/collections"], 4);
  assert.equal(step?.metrics["env/num_trajectories"], 4 * 4);
  assert.equal(step?.metrics["rollout/dead_groups"], 1);
  assert.equal(step?.metrics["rollout/kept_fraction"], 0);
  for (const folder of [logs, model]) rmSync(folder, { recursive: true });
});
