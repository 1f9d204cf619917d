/** `runner`: how long, how often to evaluate and save, and where the results go. */
import { z } from "zod";
import { coEvolutionFrame, gapStopFrame } from "./co-evolution.ts";

const backend = z.string(); // the loggers themselves are families: see read-config.ts

const logger = z.strictObject({
  log_path: z.string().describe("folder of all outputs of the run"),
  project_name: z.string().default("reverie").describe("of W&B and SwanLab"),
  experiment_name: z.string().default("run").describe("the run's name, and the folder of its checkpoints"),
  logger_backends: z
    .union([z.array(backend), backend.transform((one) => [one]), z.null().transform(() => [])])
    .default(["tensorboard"])
    .describe(
      "where metrics go beside the files of the run: tensorboard, wandb, swanlab or a plugin's; one, several, or null for none",
    ),
  wandb_proxy: z.string().nullish().describe("address of an HTTP proxy for W&B"),
  wandb_entity: z.string().nullish().describe("user or team that W&B files the run under"),
  swanlab_mode: z
    .string()
    .default("cloud")
    .describe("SwanLab's mode: cloud, local, offline or disabled; the variable SWANLAB_MODE wins"),
});

export const runnerFrame = z.strictObject({
  task_type: z
    .enum(["embodied", "embodied_eval"])
    .describe("what kind of run RLinf would start; both are understood, and only_eval decides"),
  logger,
  seed: z.int().min(0).default(0).describe("the seed of the run: every random stream is derived from it"),
  max_epochs: z.int().min(0).describe("training steps in all"),
  max_steps: z.int().default(-1).describe("if 0 or more, the smaller of this and max_epochs counts"),
  only_eval: z.boolean().default(false).describe("evaluate and do not train"),
  val_check_interval: z.int().default(-1).describe("evaluate every so many steps; 0 or less: never"),
  save_interval: z.int().describe("checkpoint every so many steps; 0 or less: never"),
  keep_checkpoints: z.int().min(0).default(0).describe("how many checkpoints to keep; 0 keeps all"),
  resume_dir: z.string().nullish().describe('a folder …/checkpoints/global_step_N, or "auto" for the latest'),
  ckpt_path: z.string().nullish().describe("weights laid over the model after it is built"),
  stop_timeout: z
    .number()
    .positive()
    .default(300)
    .describe("seconds without progress after which a run that was told to stop is ended as it is"),
  watchdog_timeout: z
    .number()
    .positive()
    .default(3600)
    .describe("seconds without any sign of life after which a hung run is ended"),
  co_evolution: coEvolutionFrame.prefault({}),
  stop_when_gap_grows: gapStopFrame.prefault({}),
  weight_sync_interval: z
    .int()
    .positive()
    .default(1)
    .describe("training steps between two hand-overs of weights to rollout workers"),
  overlap_env_bootstrap: z.boolean().default(false).describe("no effect here: not available"),
  use_training_pipeline: z.boolean().default(false).describe("no effect here: not available"),
  enable_decoupled_mode: z.boolean().default(false).describe("no effect here: not available"),
  per_worker_log: z.boolean().default(false).describe("no effect here: there is one log for all workers"),
  seq_length: z.int().nullish(),
  max_prompt_length: z.int().nullish(),
});
