/**
 * Short real runs of every kind of learning, and what each of them left: digests of weights and files, and all metrics but times.
 *
 * Only commands, options and files that a user has are used, so that the same runs can be made by code from before and after a
 * rebuild. One thread each: sums of floating-point numbers then have one order.
 */
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { cpus } from "node:os";
import { dirname, join, relative } from "node:path";
import { checkout, RunningCommand } from "./running-command.ts";

/** Of one run: a line per file or step, each a short text that two machines of one kind agree on. */
export type Traces = Readonly<Record<string, readonly string[]>>;

/** The vector units decide the order of sums in libtorch's kernels: recordings hold on machines with the same. */
export function machineKind(): string {
  const flags = existsSync("/proc/cpuinfo") ? readFileSync("/proc/cpuinfo", "utf8") : "";
  const units = ["avx2", "avx512f", "avx512_bf16", "amx_tile"].filter((unit) => flags.includes(` ${unit}`));
  return [process.arch, ...units, /AuthenticAMD/.test(flags) ? "amd" : (cpus()[0]?.model ?? "")].join(" ");
}

const policy = "checkpoints/openvla-oft-mini";
const secondsPerCommand = 900;

/** Each finds what the ones before it left in `root`. */
export const shortRuns: Readonly<Record<string, (root: string) => Promise<readonly string[]>>> = {
  grpo: (root) =>
    train(root, "grpo", "tabletop_spatial_grpo_openvlaoft_mini", [...simulator, "env.train.env_workers=2"]),
  /** A run that an older version of the code began goes on from its checkpoint. */
  earlier: (root) => {
    cpSync(checkout("prove/recorded/earlier/run"), join(root, "earlier"), { recursive: true });
    return train(root, "earlier", "tabletop_spatial_grpo_openvlaoft_mini", earlier);
  },
  ppo: (root) => train(root, "ppo", "tabletop_object_ppo_openvlaoft_mini", simulator),
  resumed: (root) =>
    train(root, "grpo", "tabletop_spatial_grpo_openvlaoft_mini", [
      ...[...simulator, "env.train.env_workers=2", "runner.max_epochs=3", "runner.resume_dir=auto"],
    ]),
  demonstrations: async (root) => {
    const out = join(root, "demonstrations");
    await reverie(
      "collect",
      "tabletop_spatial",
      "--out",
      out,
      "--episodes",
      "2",
      "--workers",
      "2",
      "--size",
      "64",
    );
    return filesOf(out);
  },
  sft: async (root) => {
    const [data, out] = [join(root, "demonstrations"), join(root, "sft")];
    const sizes = ["steps=4", "lr_warmup_steps=2", "micro_batch_size=16"].flatMap((each) => ["--set", each]);
    await reverie(
      "sft",
      "--data",
      data,
      "--out",
      out,
      "--model",
      policy,
      "--batch",
      "32",
      "--checkpoint-every",
      "2",
      ...sizes,
    );
    return filesOf(out);
  },
  recordings: async (root) => {
    const out = join(root, "recordings");
    const played = join(root, "played");
    const options = ["--workers", "2", "--set", "steps=16"];
    await reverie("world", "collect", "tabletop_object", "--out", out, "--episodes", "12", ...options);
    await reverie(
      "world",
      "collect",
      "tabletop_object",
      "--out",
      played,
      "--episodes",
      "6",
      "--policy",
      policy,
      ...options,
    );
    return [...filesOf(out), ...filesOf(played)];
  },
  opensora: (root) =>
    makeWorld(
      root,
      "opensora",
      ["block_out_channels=[16,16,16]"],
      ["hidden_size=32", "depth=1", "num_heads=2"],
    ),
  wan: (root) =>
    makeWorld(
      root,
      "wan",
      ["vae_dim=8", "vae_dec_dim=8", "z_dim=8"],
      ["dim=48", "num_heads=2", "ffn_dim=48", "num_layers=1"],
    ),
  evac: (root) =>
    makeWorld(
      root,
      "evac",
      ["ch=8", "z_channels=4"],
      ["model_channels=32", "context_dim=32", "clip_width=16", "predictor_steps=3", "predictor_batch_size=8"],
    ),
  dream: (root) =>
    train(root, "dream", "opensora_tabletop_object_grpo_openvlaoft_mini", [
      ...shared,
      ...[
        "env.train.total_num_envs=16",
        "env.train.rollout_epoch=1",
        "algorithm.group_size=8",
        "actor.global_batch_size=40",
      ],
      ...[
        "runner.co_evolution.enabled=true",
        "runner.co_evolution.interval=1",
        "runner.co_evolution.episodes=4",
      ],
      ...[
        "runner.co_evolution.exam_episodes=4",
        "runner.co_evolution.workers=2",
        "runner.co_evolution.refresh.steps=2",
      ],
      ...["runner.co_evolution.refresh.judge_steps=2", "runner.co_evolution.refresh.batch_size=4"],
      `runner.co_evolution.data=[${join(root, "recordings")},${join(root, "played")}]`,
    ]),
};

const shared = [
  ...[
    "cluster.simulated_devices=1",
    "runner.max_epochs=2",
    "runner.save_interval=1",
    "runner.val_check_interval=-1",
  ],
  ...["actor.micro_batch_size=20", "actor.optim.lr_warmup_steps=0", "algorithm.entropy_bonus=0.001"],
  "env.eval.video_cfg.save_video=False",
];
const simulator = [
  ...shared,
  ...[
    "env.train.total_num_envs=8",
    "env.train.rollout_epoch=1",
    "env.train.group_size=4",
    "algorithm.group_size=4",
  ],
  ...["actor.global_batch_size=40", "env.train.video_cfg.save_video=False", "algorithm.filter_rewards=False"],
];

/** As the earlier run began, and one step more. */
const tiny = (section: string): string[] =>
  ["max_episode_steps=16", "max_steps_per_rollout_epoch=16", "init_params.camera_heights=32"]
    .concat("init_params.camera_widths=32", "video_cfg.save_video=False", "env_workers=0")
    .concat("total_num_envs=4", "rollout_epoch=1")
    .map((setting) => `env.${section}.${setting}`);
const earlier = [
  ...[
    "cluster.simulated_devices=1",
    "runner.max_epochs=2",
    "runner.save_interval=1",
    "runner.resume_dir=auto",
  ],
  ...[...tiny("train"), ...tiny("eval"), "algorithm.group_size=2"],
  ...["actor.global_batch_size=4", "actor.micro_batch_size=2", "actor.model.precision=fp32"],
  ...["actor.model", "rollout.model"].map((part) => `${part}.model_path=prove/recorded/earlier/policy`),
  ...["actor.fsdp_config.gradient_checkpointing=False", "algorithm.entropy_bonus=0.01"],
  ...["algorithm.filter_rewards=False", "actor.optim.lr_warmup_steps=0"],
];

async function train(
  root: string,
  name: string,
  config: string,
  overrides: readonly string[],
): Promise<readonly string[]> {
  const out = join(root, name);
  await reverie("train", config, "--device", "cpu", `runner.logger.log_path=${out}`, ...overrides);
  return [...metricsOf(join(out, "metrics.jsonl")), ...filesOf(out, /\.(safetensors|pth|pt|npy)$/)];
}

async function makeWorld(
  root: string,
  family: string,
  autoencoder: readonly string[],
  denoiser: readonly string[],
): Promise<readonly string[]> {
  const out = join(root, family);
  mkdirSync(out, { recursive: true });
  const learn = (what: string, steps: number, sets: readonly string[]): Promise<void> =>
    reverie(
      ...["world", what, "--data", join(root, "recordings"), "--data", join(root, "played"), "--world", out],
      ...["--family", family, "--steps", String(steps), "--batch", "8"],
      ...["lr_warmup_steps=1", ...sets].flatMap((each) => ["--set", each]),
    );
  await learn("train-vae", 4, autoencoder);
  await learn("train", 4, denoiser);
  await learn("train", 2, [...denoiser, `init_from=${out}`, "imagined_share=0.5", "imagined_episodes=4"]);
  await learn("train-reward", 4, ["widths=[8,8,8,8]"]);
  await reverie("world", "starts", "--data", join(root, "recordings"), "--world", out, "--set", "count=4");
  const measure = ["episodes=4", "chunks=2", "batch=4", "autoencoder_episodes=2", "videos=1"].flatMap(
    (each) => ["--set", each],
  );
  await reverie(
    "world",
    "evaluate",
    "--world",
    out,
    "--data",
    join(root, "played"),
    "--out",
    join(out, "report"),
    ...measure,
  );
  return filesOf(out);
}

/** Fails with what the command said. */
async function reverie(...args: readonly string[]): Promise<void> {
  const running = RunningCommand.reverie(...args);
  const ended = await running.endedWithin(secondsPerCommand);
  if (!ended) running.destroy();
  if (ended?.by !== 0)
    throw new Error(`reverie ${args.join(" ")} ended by ${ended?.by ?? "its deadline"}\n${running.text}`);
}

/** What holds times, paths or process ids, and films, whose encoder may differ. */
const unsteady =
  /(manifest|run|lineage|settings|progress)[^/]*\.json$|\.(mp4|png|svg|log|txt|lock)$|tensorboard|events\.out|metrics\.jsonl$|\.finished\.|worlds\/step_\d+\/dataset/;

function filesOf(folder: string, wanted = /./): string[] {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .filter((name) => wanted.test(name) && !unsteady.test(name));
  return names.sort().map((name) => `${name} ${digest(readFileSync(join(folder, name)), folder)}`);
}

/** Without the folders that this run and this checkout happen to have. */
function digest(content: Buffer, folder: string): string {
  const plain = [folder, dirname(checkout("package.json"))].reduce(
    (bytes, path) =>
      bytes.includes(path) ? Buffer.from(bytes.toString("latin1").replaceAll(path, "."), "latin1") : bytes,
    content,
  );
  return createHash("sha256").update(plain).digest("hex").slice(0, 16);
}

const isTime = /^time($|\/)|_time$|per_second|memory/i;

function metricsOf(path: string): string[] {
  const lines = readFileSync(path, "utf8").trim().split("\n");
  return lines.map((line) => {
    const { step, ...metrics } = JSON.parse(line) as Record<string, unknown>;
    const kept = Object.entries(metrics)
      .filter(([name]) => !isTime.test(name))
      .sort(([a], [b]) => (a < b ? -1 : 1));
    return `step ${step} ${JSON.stringify(Object.fromEntries(kept))}`;
  });
}

/** Runs them all, in order; `say` is told of each. */
export async function traceAll(root: string, say: (line: string) => void): Promise<Traces> {
  const traces: Record<string, readonly string[]> = {};
  for (const [name, run] of Object.entries(shortRuns)) {
    const began = performance.now();
    traces[name] = await run(root);
    say(`${name}: ${traces[name].length} traces, ${((performance.now() - began) / 1000).toFixed(0)} s`);
  }
  return traces;
}

export const recordedFile = checkout("prove/recorded/same-bits.json");
