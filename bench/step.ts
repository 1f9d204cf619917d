/**
 * `npm run bench -- step --device cuda`: whole GRPO training steps of OpenVLA-OFT in its published size (7.5 billion random
 * parameters, bfloat16) on LIBERO-Spatial: simulators, decisions and updates by the run that `reverie train` starts.
 *
 * Episodes are cut to `--env-steps`; all else is libero_spatial_grpo_openvlaoft but for what stands in `overridesOf`. The first
 * step of a run captures graphs and compiles kernels, so the second is reported. Random weights never succeed, so every group would be
 * filtered: the filter is off, and a small entropy bonus keeps gradients from being zeros, which are multiplied faster.
 * `--only lora|full` runs one kind, `--masters` keeps float32 masters and moments, `--tiny` tries the bench on a CPU.
 */
import { fork } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import type { Metrics } from "#metrics";
import { findSuite } from "#simulators";
import { emptyCache } from "#tensor";
import { stepsPerSecond } from "./envs.ts";
import type { BenchOptions } from "./main.ts";
import { benchConfig, type Place } from "./openvla-network.ts";
import { writeRandomCheckpoint } from "./random-checkpoint.ts";
import { type BenchRow, lessIsBetter, moreIsBetter, tableOf } from "./row.ts";
import { type Limits, type Mode, measureLimits } from "./step-limits.ts";
import type { StepAnswer, StepRequest } from "./step-run.ts";

const name = "libero_spatial_grpo_openvlaoft";
const suite = "libero_spatial";
const unnormKey = "libero_spatial_no_noops";
const chunk = 8;

interface Sizes {
  readonly slots: number;
  readonly envSteps: number; // of one episode
  readonly group: number;
  readonly microBatch: number;
}

export async function bench({ device }: BenchOptions): Promise<BenchRow[]> {
  const { values } = parseArgs({
    allowPositionals: true,
    strict: false,
    options: {
      tiny: { type: "boolean" },
      masters: { type: "boolean" },
      only: { type: "string" },
      envs: { type: "string" },
      "env-steps": { type: "string" },
      work: { type: "string" },
    },
  });
  const tiny = values.tiny === true;
  const sizes: Sizes = {
    slots: Number(values.envs ?? (tiny ? 4 : 64)),
    envSteps: Number(values["env-steps"] ?? (tiny ? 16 : 48)),
    group: tiny ? 2 : 8,
    microBatch: tiny ? 4 : 32,
  };
  const modes = (["lora", "full"] as const).filter(
    (mode) => values.only === undefined || values.only === mode,
  );
  const folder = mkdtempSync(join(String(values.work ?? roomyFolder(tiny)), "reverie-step-"));
  try {
    return await measure({ device, tiny, masters: values.masters === true, modes, sizes, folder });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

interface Wishes {
  readonly device: "cpu" | "cuda";
  readonly tiny: boolean;
  readonly masters: boolean;
  readonly modes: readonly Mode[];
  readonly sizes: Sizes;
  readonly folder: string;
}

async function measure(wishes: Wishes): Promise<BenchRow[]> {
  const { device, tiny, modes, sizes, folder } = wishes;
  const rows: BenchRow[] = [];
  const report = (...measured: BenchRow[]): void => {
    console.error(
      tableOf(measured)
        .split("\n")
        .slice(rows.length === 0 ? 0 : 2)
        .join("\n"),
    );
    rows.push(...measured);
  };
  const lap = stopwatch();
  const place: Place = { device, dtype: device === "cuda" ? "bfloat16" : "float32" };
  const config = benchConfig(tiny, undefined);
  const model = join(folder, "model");
  const tasks = findSuite(suite).tasks.map(({ language }) => language);
  const { slots, microBatch } = sizes;
  const write = (module: Parameters<typeof writeRandomCheckpoint>[1]): void => {
    lap("bare forward");
    writeRandomCheckpoint(model, module, config, { tasks, unnormKey });
    lap("checkpoint written");
  };
  const limits = measureLimits({ config, place, slots, microBatch, modes, write });
  if (device === "cuda") emptyCache();
  lap("bare training");
  const envRate = await stepsPerSecond(suite, sizes.slots, { seconds: 4, size: 256 });
  lap("bare envs");
  for (const mode of modes) {
    const overrides = overridesOf(mode, wishes, model);
    try {
      report(...rowsOf(mode, await runSteps({ config: name, overrides }), sizes, limits, envRate));
    } catch (error) {
      if (modes.length === 1) throw error;
      console.error(`${titles[mode]} was left out: ${(error as Error).message}`);
    }
    lap(titles[mode]);
  }
  return rows;
}

const titles: Readonly<Record<Mode, string>> = { lora: "LoRA r32", full: "all parameters" };

function overridesOf(mode: Mode, { device, tiny, masters, sizes, folder }: Wishes, model: string): string[] {
  const { slots, envSteps, group, microBatch } = sizes;
  return [
    `runner.logger.log_path=${join(folder, mode)}`,
    "runner.max_epochs=2",
    "runner.save_interval=-1",
    `env.train.total_num_envs=${slots}`,
    "env.train.rollout_epoch=1",
    `env.train.max_episode_steps=${envSteps}`,
    `env.train.max_steps_per_rollout_epoch=${envSteps}`,
    "env.train.video_cfg.save_video=False",
    "++env.train.wrist_camera=False", // this policy does not look at it
    `algorithm.group_size=${group}`,
    "algorithm.filter_rewards=False",
    "algorithm.entropy_bonus=0.01",
    `actor.global_batch_size=${(slots * envSteps) / chunk}`,
    `actor.micro_batch_size=${microBatch}`,
    `actor.model.model_path=${model}`,
    `actor.model.is_lora=${mode === "lora"}`,
    `++actor.optim.master_weights=${masters || mode === "lora"}`,
    `++rollout.enable_cuda_graph=${device === "cuda"}`,
    "++actor.enable_offload=False", // all of it fits
    "++rollout.enable_offload=False",
    ...(device === "cpu" ? ["++cluster.simulated_devices=1", "actor.model.precision=fp32"] : []),
    ...(tiny ? ["++env.train.env_workers=2"] : []),
  ];
}

function runSteps(request: StepRequest): Promise<StepAnswer> {
  const program = fileURLToPath(new URL("step-run.ts", import.meta.url));
  const child = fork(program, { execArgv: ["--import", "tsx"], stdio: ["ignore", 2, 2, "ipc"] });
  return new Promise((resolve, reject) => {
    child.on("message", (answer) => resolve(answer as StepAnswer));
    child.on("error", reject);
    child.on("exit", (code, signal) =>
      reject(new Error(`the run ended with ${signal ?? `code ${code}`}; what it said is above`)),
    );
    child.send(request);
  });
}

function rowsOf(
  mode: Mode,
  { steps, memory, openSeconds }: StepAnswer,
  { slots, envSteps }: Sizes,
  { decisions, samples }: Limits,
  envRate: number,
): BenchRow[] {
  const times = timesOf(steps.at(-1) ?? {});
  const count = slots * envSteps;
  const title = `${titles[mode]}, ${slots} envs × ${envSteps} steps`;
  const part = (what: string, seconds: number): BenchRow =>
    lessIsBetter({
      name: `${title}: ${what}, ${((100 * seconds) / times.step).toFixed(1)} % of it`,
      unit: "s",
      ours: seconds,
    });
  const sample = samples[mode];
  return [
    lessIsBetter({ name: `${title}: opened`, unit: "s", ours: openSeconds }),
    lessIsBetter({ name: `${title}: step`, unit: "s", ours: times.step }),
    part("env", times.env),
    part("rollout", times.rollout),
    part("training", times.training),
    lessIsBetter({
      name: `${title}: outside these (at most 3)`,
      unit: "%",
      ours: (100 * times.other) / times.step,
      reference: 3,
      goal: 1,
    }),
    moreIsBetter({
      name: `${title}: env, against envs alone`,
      unit: "env-steps/s",
      ours: count / times.env,
      reference: envRate,
    }),
    moreIsBetter({
      name: `${title}: rollout, against the bare forward pass`,
      unit: "chunks/s",
      ours: count / chunk / times.rollout,
      reference: decisions.bare,
      limit: decisions.matrix,
    }),
    moreIsBetter({
      name: `${title}: training, against the bare forward and backward pass`,
      unit: "samples/s",
      ours: count / chunk / times.training,
      ...(sample && { reference: sample.bare, limit: sample.matrix }),
    }),
    moreIsBetter({ name: `${title}: whole step`, unit: "env-steps/s", ours: count / times.step }),
    ...(memory
      ? [
          lessIsBetter({
            name: `${title}: peak memory of tensors (${(memory.taken / 1e9).toFixed(0)} GB taken)`,
            unit: "GB",
            ours: memory.given / 1e9,
            limit: memory.total / 1e9,
          }),
        ]
      : []),
  ];
}

function timesOf(metrics: Metrics) {
  const seconds = (key: string): number => metrics[`time/${key}`] ?? 0;
  const [step, env, rollout] = [seconds("step"), seconds("env/interact"), seconds("rollout/generate")];
  const training = seconds("actor_training");
  return { step, env, rollout, training, other: step - env - rollout - training };
}

/** Fifteen gigabytes are written fastest to memory, where there is enough of it. */
function roomyFolder(tiny: boolean): string {
  const shared = "/dev/shm";
  if (tiny || !existsSync(shared)) return tmpdir();
  const { bavail, bsize } = statfsSync(shared);
  return bavail * bsize > 20e9 ? shared : tmpdir();
}

/** Says how long each part took: the GPU's time is dear. */
function stopwatch(): (what: string) => void {
  let last = performance.now();
  return (what) => {
    const now = performance.now();
    console.error(`# ${what}: ${((now - last) / 1000).toFixed(1)} s`);
    last = now;
  };
}
