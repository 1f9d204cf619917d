/**
 * The table of older spellings: from which key, to which keys, with which value. Order matters: top to
 * bottom.
 */
import type { Plain } from "./tree.ts";

type Look = (path: string) => Plain | undefined;

export interface Move {
  readonly from: string;
  /** New keys and their values (`undefined`: nothing to write). Absent: the key is dropped. */
  readonly to?: (value: Plain, look: Look) => Record<string, Plain | undefined>;
  readonly why?: string;
  /** What the key is, where it is no old name. */
  readonly called?: string;
  /** Absent: whatever else the file says. */
  readonly when?: (look: Look) => boolean;
}

const rename = (from: string, ...to: string[]): Move => ({
  from,
  to: (value) => Object.fromEntries(to.map((target) => [target, value])),
});
const both = (key: string): string[] => [`env.train.${key}`, `env.eval.${key}`];
const drop = (from: string, why: string): Move => ({ from, why });
const openpi = (look: Look): boolean => /^openpi(_rlinf)?$/.test(String(look("actor.model.model_type")));
/** RLinf's own copy of the π0 and π0.5 networks says its sizes; those of the published ones need not be said. */
const ofPublishedSize = (key: string, size: string): Move => ({
  from: `actor.model.openpi.${key}`,
  why: "the size of every published π0",
  when: (look) => openpi(look) && look(`actor.model.openpi.${key}`) === size,
});
const dropForOpenpi = (from: string, why: string): Move => ({ from, why, when: openpi });
const number = (value: Plain | undefined): number => (typeof value === "number" ? value : Number.NaN);
const product = (a: number, b: number): number | undefined => (Number.isNaN(a * b) ? undefined : a * b);

/** What was called world_model_libero trained in a world and evaluated in the simulator. */
const environmentTypes: Readonly<Record<"train" | "eval", Readonly<Record<string, string>>>> = {
  train: { omnigibson: "behavior", world_model_libero: "evac_wm" },
  eval: { omnigibson: "behavior", world_model_libero: "libero" },
};
const advantageTypes: Readonly<Record<string, string>> = { embodied_gae: "gae", embodied_grpo: "grpo" };
const lossTypes: Readonly<Record<string, string>> = {
  embodied_ppo: "actor_critic",
  embodied_grpo: "actor",
  ppo: "actor_critic",
};

/** Whatever is not per chunk or token was per action, also when it was called a step. */
const levels: Readonly<Record<string, string>> = { step_level: "action_level" };

/** A value that changed its name but not its key. Applied only to values found in the table. */
export const renamedValues: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "algorithm.adv_type": advantageTypes,
  "algorithm.loss_type": lossTypes,
  "algorithm.reward_type": levels,
  "algorithm.logprob_type": levels,
  "algorithm.entropy_type": levels,
  "actor.model.value_type": levels,
  "actor.model.model_type": { openpi_rlinf: "openpi" },
};

/** What else is to be known of a value that was understood as another. */
export const valueRemarks: Readonly<Record<string, string>> = {
  openpi_rlinf:
    "the same network; the checkpoint must have openpi's own key names, which RLinf's converter openpi_rlinf_to_openpi_pytorch writes",
};

/**
 * Keys of an environment's preset at the root of a file, as the guides to OpenSora and Wan print them: they are about
 * training.
 */
const presetKeys = [
  "env_type",
  "wm_env_type",
  "simulator_type",
  "task_suite_name",
  "enable_kir",
  "initial_image_path",
  "VAE_path",
  "model_path",
  "reward_model",
  "world_model_cfg",
];

/** Beside a world's own keys, `simulator_type` names the simulator that the world imitates. */
function simulatorType(
  section: "train" | "eval",
  value: Plain,
  look: Look,
): Record<string, Plain | undefined> {
  const at = `env.${section}`;
  const type = look(`${at}.env_type`);
  const imagined = String(type).endsWith("_wm");
  if (value === "libero" && (imagined || look(`${at}.VAE_path`) !== undefined))
    return { [`${at}.env_type`]: imagined ? type : "wan_wm", [`${at}.wm_env_type`]: "libero" };
  return { [`${at}.env_type`]: environmentTypes[section][String(value)] ?? value };
}

const environmentMoves = (section: "train" | "eval"): Move[] => [
  {
    from: `env.${section}.simulator_type`,
    to: (value, look) => simulatorType(section, value, look),
  },
  rename(`env.${section}.only_eval`, `env.${section}.is_eval`),
  drop(`env.${section}.num_group`, "follows from total_num_envs and group_size"),
  rename(`env.${section}.num_envs`, `env.${section}.total_num_envs`),
  {
    ...rename(`env.${section}.init_params.max_episode_steps`, `env.${section}.max_episode_steps`),
    when: (look) => look(`env.${section}.max_episode_steps`) === undefined,
  },
  drop(`env.${section}.num_images_in_input`, "the model's setting decides"),
  drop(`env.${section}.use_wrist_image`, "the model's num_images_in_input decides"),
];

/** Episode rules that once stood under `algorithm`. */
const episodeKeys = [
  "auto_reset",
  "ignore_terminations",
  "use_fixed_reset_state_ids",
  "use_ordered_reset_state_ids",
  "specific_reset_id",
  "max_episode_steps",
];

const chunkSteps = (section: "train" | "eval") => (value: Plain, look: Look) => ({
  [`env.${section}.max_steps_per_rollout_epoch`]: product(
    number(value),
    number(look("actor.model.num_action_chunks")),
  ),
});

/** One block for both: films of training and evaluation must not overwrite each other. */
function sharedVideos(block: Plain): Record<string, Plain | undefined> {
  const folder = (block as { readonly video_base_dir?: Plain } | null)?.video_base_dir;
  if (typeof folder !== "string") return { "env.train.video_cfg": block, "env.eval.video_cfg": block };
  const apart = folder.replace(/\/train\/*$/, "").replace(/\/+$/, "");
  return {
    "env.train.video_cfg": block,
    "env.eval.video_cfg": { ...(block as object), video_base_dir: `${apart}/eval` },
  };
}

/** A service is switched on or off beside the others. */
function withService(name: string, on: unknown, others: Plain | undefined): readonly Plain[] | undefined {
  if (typeof on !== "boolean") return undefined;
  const rest = [others ?? []].flat().filter((each) => each !== name);
  return on ? [...rest, name] : others === undefined ? undefined : rest;
}

export const moves: readonly Move[] = [
  ...presetKeys.map((key) => ({ ...rename(key, `env.train.${key}`), called: "belongs to an environment" })),
  ...environmentMoves("train"),
  ...environmentMoves("eval"),
  {
    from: "algorithm.num_group_envs",
    to: (value, look) => {
      const total = product(number(value), number(look("algorithm.group_size")));
      return {
        "env.train.total_num_envs": total,
        "env.train.group_size": look("algorithm.group_size"),
        "env.eval.total_num_envs": total,
      };
    },
  },
  { from: "algorithm.n_chunk_steps", to: chunkSteps("train") },
  { from: "algorithm.n_eval_chunk_steps", to: chunkSteps("eval") },
  ...episodeKeys.map((key) => rename(`algorithm.${key}`, ...both(key))),
  rename("algorithm.rollout_epoch", "env.train.rollout_epoch"),
  rename("algorithm.eval_rollout_epoch", "env.eval.rollout_epoch"),
  {
    from: "algorithm.sampling_params.use_greedy",
    to: (value) => ({ "algorithm.sampling_params.do_sample": value !== true }),
  },
  rename("algorithm.sampling_params", "rollout.sampling_params"),
  {
    from: "rollout.sampling_params.use_greedy",
    to: (value) => ({ "rollout.sampling_params.do_sample": value !== true }),
  },
  rename("algorithm.length_params.max_new_token", "rollout.sampling_params.max_new_tokens"),
  drop("rollout.sampling_params.add_BOS", "prompts begin as the policy's own do"),
  drop("algorithm.length_params.max_length", "the number of action tokens is fixed"),
  drop("algorithm.length_params.min_length", "the number of action tokens is fixed"),
  drop("algorithm.require_values", "follows from loss_type"),
  drop("algorithm.shuffle_samples", "samples are always shuffled"),
  rename("rollout.model_dir", "rollout.model.model_path"),
  rename("rollout.precision", "rollout.model.precision"),
  rename("actor.checkpoint_load_path", "actor.model.model_path"),
  rename("actor.tokenizer.tokenizer_model", "actor.model.model_path"),
  ...["tokenizer_type", "use_fast", "trust_remote_code", "padding_side", "extra_vocab_size"].map((key) =>
    drop(`actor.tokenizer.${key}`, "the tokenizer comes with the checkpoint"),
  ),
  drop("actor.checkpoint_save_path", "checkpoints go below runner.logger.log_path"),
  rename("actor.model.model_name", "actor.model.model_type"),
  { from: "actor.model.vh_mode", to: (value) => ({ "actor.model.add_value_head": value !== null }) },
  {
    from: "actor.model.use_wrist_image",
    to: (value) => ({ "actor.model.num_images_in_input": value === true ? 2 : undefined }),
  },
  rename("actor.model.gradient_checkpointing", "actor.fsdp_config.gradient_checkpointing"),
  rename("actor.model.ckpt_path", "runner.ckpt_path"),
  rename("actor.model.sharding_strategy", "actor.fsdp_config.sharding_strategy"),
  ...["micro_batch_size", "val_micro_batch_size"].map((key) =>
    drop(`actor.model.${key}`, "actor.micro_batch_size counts"),
  ),
  {
    ...rename("actor.model.openpi.add_value_head", "actor.model.add_value_head"),
    when: (look) => look("actor.model.add_value_head") === undefined,
  },
  drop("actor.model.is_vla_model", "every policy here is one"),
  ...["rollout_micro_batch_size", "logprob_forward_micro_batch_size"].map((key) =>
    drop(`algorithm.${key}`, "actor.micro_batch_size counts"),
  ),
  drop("actor.model.do_sample", "rollout.sampling_params counts"),
  drop("cluster.num_gpus_per_node", "accelerators are counted"),
  drop("actor.model.add_bias_linear", "the checkpoint's config.json says it"),
  drop("actor.model.add_qkv_bias", "the checkpoint's config.json says it"),
  {
    from: "actor.fsdp_config.amp",
    to: (_, look) => ({
      "actor.fsdp_config.amp_autocast.enabled": look("actor.fsdp_config.amp.enabled"),
      "actor.fsdp_config.amp_autocast.precision": look("actor.fsdp_config.amp.precision"),
      "actor.fsdp_config.grad_scaler.enabled": look("actor.fsdp_config.amp.use_grad_scaler"),
    }),
  },
  rename("env.enable_offload", ...both("enable_offload")),
  rename("actor.fsdp", "actor.fsdp_config"),
  drop("env.num_envs_per_gpu", "follows from total_num_envs and the placement"),
  ...["env", "rollout", "actor"].map((room) => drop(`${room}.channel`, "channels need no settings")),
  drop("runner.per_worker_log_path", "there is one log"),
  drop("rollout.mode", "follows from the placement"),
  drop("rollout.gpu_memory_utilization", "a setting of vLLM, which is not used here"),
  drop("rollout.enforce_eager", "a setting of vLLM, which is not used here"),
  drop("rollout.recompute_logprobs", "ratios are to the log-probabilities of the rollout itself"),
  dropForOpenpi("rollout.unnorm_key", "π0's statistics come with the checkpoint"),
  rename("rollout.unnorm_key", "actor.model.unnorm_key"),
  dropForOpenpi("actor.model.num_images_in_input", "π0 reads actor.model.openpi.num_images_in_input"),
  dropForOpenpi("actor.model.proprio_dim", "the checkpoint says it"),
  ofPublishedSize("paligemma_variant", "gemma_2b"),
  ofPublishedSize("action_expert_variant", "gemma_300m"),
  dropForOpenpi("actor.model.openpi.task", "the command decides"),
  { ...rename("actor.model.openpi.model_action_dim", "actor.model.openpi.action_dim"), when: openpi },
  { ...rename("actor.model.pi05", "actor.model.openpi.pi05"), when: openpi },
  drop("actor.num_steps", "actor.model.num_steps counts"),
  drop("algorithm.ratio_clip_eps", "clip_ratio_low and clip_ratio_high are the bounds"),
  {
    from: "trainer.logger.wandb",
    to: (_, look) => ({
      "runner.logger.logger_backends": withService(
        "wandb",
        look("trainer.logger.wandb.enable"),
        look("runner.logger.logger_backends"),
      ),
      "runner.logger.project_name": look("trainer.logger.wandb.project_name"),
      "runner.logger.experiment_name": look("trainer.logger.wandb.experiment_name"),
    }),
  },
  { from: "video_cfg", called: "a block for all environments", to: sharedVideos },
];
