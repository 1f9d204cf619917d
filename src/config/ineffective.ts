/**
 * Settings that are written down and change nothing, here or in this combination, each with the reason.
 *
 * The reference accepts several of these silently. Saying so costs one line and saves a wasted run.
 */
import type { ChosenFamilies } from "./family-section.ts";
import type { RunConfig } from "./frame/index.ts";
import { type Problem, problem } from "./problem.ts";
import { type ConfigNode, type MapNode, nodeAt, parsePath, plain, valueText } from "./tree.ts";

interface Ineffective {
  readonly keys: readonly string[];
  readonly when: (config: RunConfig, value: (path: string) => unknown, families: ChosenFamilies) => boolean;
  readonly why: string;
}

const always = (): boolean => true;

const table: readonly Ineffective[] = [
  {
    keys: ["runner.seq_length", "runner.max_prompt_length"],
    when: always,
    why: "the model's own settings decide",
  },
  {
    keys: ["actor.optim.value_lr", "actor.optim.critic_warmup_steps"],
    when: (config, value) =>
      !config.actor.model.add_value_head && value("actor.optim.critic_warmup_steps") !== 0,
    why: "the model has no value head",
  },
  {
    keys: ["algorithm.bootstrap_type"],
    when: (config) => !config.env.train.auto_reset,
    why: "rewards are only bootstrapped with env.train.auto_reset",
  },
  {
    keys: ["algorithm.rewards_lower_bound", "algorithm.rewards_upper_bound"],
    when: (config) => config.algorithm.filter_rewards !== true,
    why: "algorithm.filter_rewards is off",
  },
  {
    keys: ["algorithm.kl_penalty"],
    when: (config) => !(Number(config.algorithm.kl_beta ?? 0) > 0),
    why: "algorithm.kl_beta is 0",
  },
  {
    keys: ["rollout.sampling_params.top_p"],
    when: (_, value) => value("rollout.sampling_params.top_p") !== 1,
    why: "no policy here samples with top_p",
  },
  {
    keys: ["top_k", "temperature", "temperature_train", "temperature_eval"].map(
      (key) => `rollout.sampling_params.${key}`,
    ),
    when: (_, value, families) =>
      families.policy?.samplesTokens !== true && Number(value("") ?? 0) > 0 && value("") !== 1,
    why: "this policy samples no tokens; a temperature above 0 only says that it samples",
  },
  {
    keys: ["rollout.sampling_params.repetition_penalty"],
    when: (_, value) => value("rollout.sampling_params.repetition_penalty") !== 1,
    why: "actions are not text: nothing is penalized for repeating",
  },
  {
    keys: [
      "forward_prefetch",
      "limit_all_gathers",
      "use_orig_params",
      "use_liger_kernel",
      "offload_pin_memory",
    ].map((key) => `actor.fsdp_config.${key}`),
    when: (_, value) => value("") === true,
    why: "it tunes PyTorch's FSDP, which is not used here",
  },
  {
    keys: [
      "rollout.enable_torch_compile",
      "runner.overlap_env_bootstrap",
      "runner.use_training_pipeline",
      "runner.enable_decoupled_mode",
      "cluster.auto_scheduler",
      "actor.enable_sft_co_train",
      "env.train.data_collection.enabled",
      "env.eval.data_collection.enabled",
      "runner.per_worker_log",
    ],
    when: (_, value) => value("") === true,
    why: "not available here",
  },
  {
    keys: ["actor.fsdp_config.amp_autocast.enabled", "actor.fsdp_config.grad_scaler.enabled"],
    when: (_, value) => value("") === true,
    why: "the model computes in actor.model.precision, with 32-bit masters",
  },
  {
    keys: ["actor.fsdp_config.mixed_precision.param_dtype"],
    when: (config, value) => {
      const [stored, computed] = [config.actor.model.precision, value("")].map(dtypeName);
      return stored !== undefined && computed !== undefined && stored !== computed;
    },
    why: "the model computes in actor.model.precision",
  },
  {
    keys: ["actor.fsdp_config.cpu_offload"],
    when: (_, value) => value("") === true,
    why: "actor.enable_offload is what leaves the accelerator between phases",
  },
  {
    keys: ["rollout.backend", "rollout.generation_backend", "rollout.rollout_backend"],
    when: (_, value) => value("") !== "huggingface",
    why: "the policy is run by our own code",
  },
  {
    keys: ["train", "eval"].map((section) => `env.${section}.video_cfg.extra_info_on_video`),
    when: (_, value) => ((value("") as readonly string[] | null) ?? []).length > 0,
    why: "films show task, step, reward and success",
  },
  {
    keys: ["cluster.profiling", "cluster.tracer", "cluster.net_emulation", "env.delay_sampler"],
    when: (_, value) => {
      const setting = value("") as { enable?: boolean; enabled?: boolean } | null;
      return setting !== null && (setting?.enable ?? setting?.enabled ?? true);
    },
    why: "not available here",
  },
];

/** One name for the spellings of a type; undefined where none is chosen. */
function dtypeName(spelled: unknown): string | undefined {
  const text = String(spelled ?? "");
  return [/bf16|bfloat16/, /16/, /32/].find((kind) => kind.test(text))?.source;
}

export function ineffectiveKeys(root: MapNode, config: RunConfig, families: ChosenFamilies): Problem[] {
  return [...fromTable(root, config, families), ...otherModel(root)];
}

/** The policy that acts is the actor's, whatever `rollout.model` says of it. */
function otherModel(root: MapNode): Problem[] {
  const [acting, trained] = [nodeAt(root, ["rollout", "model"]), nodeAt(root, ["actor", "model"])];
  if (acting?.kind !== "map" || trained?.kind !== "map") return [];
  const text = (node: ConfigNode | undefined): string =>
    node ? valueText(plain(node)).replace(/\/+"$/, '"') : "";
  const differing = [...acting.entries].filter(
    ([key, node]) => text(node) !== "null" && text(node) !== text(trained.entries.get(key)),
  );
  return differing.map(([key]) => {
    const why = `has no effect: the policy that acts is the one that is trained (actor.model.${key})`;
    return problem(root, "warning", ["rollout", "model", key], why);
  });
}

function fromTable(root: MapNode, config: RunConfig, families: ChosenFamilies): Problem[] {
  return table.flatMap(({ keys, when, why }) =>
    keys.flatMap((key) => {
      const path = parsePath(key);
      if (!nodeAt(root, path)) return [];
      const value = (wanted: string): unknown => parsePath(wanted || key).reduce<unknown>(inside, config);
      return when(config, value, families) ? [problem(root, "warning", path, `has no effect: ${why}`)] : [];
    }),
  );
}

function inside(value: unknown, key: string): unknown {
  return value !== null && typeof value === "object" ? (value as Record<string, unknown>)[key] : undefined;
}

/** Why a key changes nothing in any run; undefined for those that do. */
export function withoutEffect(path: string): string | undefined {
  return table.find(({ keys, when }) => when === always && keys.includes(path))?.why;
}
