/**
 * Every configuration of a simulator that we have, LIBERO's and the tabletop's, really trains: two steps of a tiny untrained policy
 * of its own family, in the simulator, on the CPU. OpenVLA has no configuration of its own and borrows one.
 */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { type CheckedConfig, SearchPath, shippedConfigs } from "#config";
import { type Metrics, readMetricsFile } from "#metrics";
import { Run, readRun, silent, train } from "#training";
import { liberoForTests } from "./libero-assets.ts";
import { testPi0Checkpoint } from "./support/pi0-checkpoint.ts";
import { tinyCheckpoint, tinyOverrides } from "./support/tiny-run.ts";

interface Case {
  readonly name: string;
  readonly overrides: readonly string[];
  readonly planned: CheckedConfig;
}

interface TinyModel {
  readonly folder: string;
  readonly overrides: readonly string[];
}

const libero = await liberoForTests();
if (!libero.skip) process.env.REVERIE_HOME = dirname(libero.folder);

async function planCase(name: string, ...overrides: string[]): Promise<Case> {
  const planned = await readRun(name, { overrides: ["cluster.simulated_devices=16", ...overrides] });
  return { name: [name, ...overrides].join(" "), overrides, planned };
}

const shipped = await Promise.all(new SearchPath([shippedConfigs]).options("").map((name) => planCase(name)));
const cases = [
  ...shipped.filter(({ planned }) => planned.config.env.train.env_type === "libero"),
  await planCase("tabletop_spatial_grpo_openvlaoft_mini", "model@actor.model=openvla"),
];

/** A checkpoint of the configuration's family that knows its suite, and what it changes in the model section. */
function tinyModel({ config: { env, actor } }: CheckedConfig): TinyModel {
  if (actor.model.model_type === "openpi") return tinyPi0(actor.model.openpi as { config_name: string });
  const folder = tinyCheckpoint([String(env.train.task_suite_name)], String(actor.model.unnorm_key));
  // OpenVLA decides for every single action: four of them are enough.
  const short = ["max_episode_steps=4", "max_steps_per_rollout_epoch=4"].map((each) => `env.train.${each}`);
  return { folder, overrides: actor.model.model_type === "openvla" ? short : [] };
}

function tinyPi0({ config_name: configName }: { readonly config_name: string }): TinyModel {
  const folder = testPi0Checkpoint(configName);
  const numbers = (count: number, value: number) => Array.from({ length: count }, () => value);
  const statistics = (count: number) => ({
    mean: numbers(count, 0),
    std: numbers(count, 0.3),
    q01: numbers(count, -1),
    q99: numbers(count, 1),
  });
  const path = join(folder, "our_stats.json");
  writeFileSync(path, JSON.stringify({ norm_stats: { state: statistics(8), actions: statistics(7) } }));
  const overrides = [
    "actor.model.num_action_chunks=4",
    "actor.model.openpi.max_token_len=200", // its tokenizer knows few words: sentences become bytes
    `actor.model.openpi_data={norm_stats_path: ${path}}`,
  ];
  return { folder, overrides };
}

async function twoSteps({ name, overrides: changes, planned }: Case): Promise<readonly Metrics[]> {
  const logs = mkdtempSync(join(tmpdir(), "reverie-every-"));
  const model = tinyModel(planned);
  const group = planned.families.algorithm?.groups ? 2 : 1;
  // One task is enough: compiling a scene takes longer than all else.
  const overrides = [
    ...changes,
    ...tinyOverrides({ model: model.folder, logs, group }),
    ...model.overrides,
    "env.train.task_id_filter=[0]",
    "env.eval.task_id_filter=[0]",
    "env.train.use_ordered_reset_state_ids=False",
  ];
  const checked = await readRun(name.split(" ")[0] as string, { overrides, requireFiles: true });
  const run = await Run.open(checked, silent);
  await train(run);
  await run.close();
  const lines = readMetricsFile(join(logs, "metrics.jsonl")).map(({ metrics }) => metrics);
  for (const folder of [logs, model.folder]) rmSync(folder, { recursive: true });
  return lines;
}

test("the families of policies are all among these runs", () => {
  const families = new Set(cases.map(({ planned }) => String(planned.config.actor.model.model_type)));
  assert.deepEqual([...families].sort(), ["openpi", "openvla", "openvla_oft"]);
  const flows = cases.map(({ planned }) => planned.config.actor.model.openpi as { config_name?: string });
  const names = new Set(flows.flatMap((openpi) => openpi?.config_name ?? []));
  assert.deepEqual([...names].sort(), ["pi05_libero", "pi0_libero"]);
});

for (const each of cases) {
  const suite = String(each.planned.config.env.train.task_suite_name);
  test(`${each.name} trains two steps`, { skip: suite.startsWith("libero") && libero.skip }, async () => {
    const metrics = await twoSteps(each);
    assert.equal(metrics.length, 2);
    for (const [label, value] of Object.entries(metrics[1] ?? {}))
      assert.ok(Number.isFinite(value) || label.endsWith("explained_variance"), `${label} is ${value}`);
    assert.ok((metrics[1]?.["env/num_trajectories"] ?? 0) > 0);
  });
}
