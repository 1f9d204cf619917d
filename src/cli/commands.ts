/**
 * Every command of `reverie`, one line each, loaded only when it is called.
 *
 * The summary stands here too, so that `reverie help` need not load the commands, and with them libtorch.
 */
import type { Command } from "./command.ts";

export interface CommandEntry {
  readonly summary: string;
  readonly load: () => Promise<Command>;
}

export const commands: Readonly<Record<string, CommandEntry>> = {
  start: {
    summary: "the main job: evaluate the shipped policy, improve it with GRPO, evaluate it again",
    load: async () => (await import("./start/index.ts")).startCommand,
  },
  train: {
    summary: "fine-tune a policy with reinforcement learning, as a configuration says",
    load: async () => (await import("./train/index.ts")).trainCommand,
  },
  eval: {
    summary: "measure a policy's success, task by task, with intervals",
    load: async () => (await import("./eval.ts")).evalCommand,
  },
  compare: {
    summary: "compare two evaluations start by start: better, or lucky?",
    load: async () => (await import("./compare.ts")).compareCommand,
  },
  claim: {
    summary: "check a learning claim: seeds, controls and evaluations, with intervals and a verdict",
    load: async () => (await import("./claim/index.ts")).claimCommand,
  },
  collect: {
    summary: "let scripted experts demonstrate a suite's tasks, to learn from",
    load: async () => (await import("./collect/index.ts")).collectCommand,
  },
  sft: {
    summary: "teach a policy from demonstrations (supervised fine-tuning)",
    load: async () => (await import("./sft/index.ts")).sftCommand,
  },
  world: {
    summary: "make a world model from recorded episodes, and measure how true it is",
    load: async () => (await import("./world/index.ts")).worldCommand,
  },
  fetch: {
    summary: "prepare a benchmark, model, world or dataset on this machine (fetch libero, fetch owner/name)",
    load: async () => (await import("./fetch.ts")).fetchCommand,
  },
  export: {
    summary: "write demonstrations as a LeRobot dataset (export lerobot)",
    load: async () => (await import("./export.ts")).exportCommand,
  },
  replay: {
    summary: "play recorded episodes again and say whether they are identical, bit for bit",
    load: async () => (await import("./replay.ts")).replayCommand,
  },
  verify: {
    summary: "check that checkpoints are whole, file by file",
    load: async () => (await import("./verify.ts")).verifyCommand,
  },
  tensorboard: {
    summary: "show the curves of runs in TensorBoard, which is fetched when it is first asked for",
    load: async () => (await import("./tensorboard.ts")).tensorboardCommand,
  },
  list: {
    summary: "name the configurations, suites, tasks, policies, worlds, algorithms and models that there are",
    load: async () => (await import("./list/index.ts")).listCommand,
  },
  completion: {
    summary: "write a script with which a shell completes commands and options",
    load: async () => (await import("./completion/index.ts")).completionCommand,
  },
  doctor: {
    summary: "say what this machine can run, what is missing, and the command that mends it",
    load: async () => (await import("./doctor/index.ts")).doctorCommand,
  },
  demo: {
    summary: "teach a small network to reach with an arm, and take its picture, in seconds",
    load: async () => (await import("./demo/index.ts")).demoCommand,
  },
};
