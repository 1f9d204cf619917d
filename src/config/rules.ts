/**
 * What must hold between settings of different sections; schemas see only one place at a time.
 *
 * Each rule looks at the checked configuration and says what it found. Errors stop a run before anything
 * starts.
 */
import { join, relative } from "node:path";
import { batchFaults, evaluationSlots, type RankCounts } from "./batch.ts";
import type { ChosenFamilies } from "./family-section.ts";
import type { RunConfig } from "./frame/index.ts";

export interface Finding {
  readonly path: string;
  readonly message: string;
  readonly severity?: "error" | "warning";
}

/** `families.algorithm`: absent where only an evaluation is asked for and no file names one. */
type Rule = (config: RunConfig, ranks: RankCounts, families: ChosenFamilies) => Finding[];

const when = (
  condition: boolean,
  path: string,
  message: string,
  severity: Finding["severity"] = "error",
): Finding[] => (condition ? [{ path, message, severity }] : []);

const evaluates = (config: RunConfig): boolean =>
  config.runner.only_eval || config.runner.val_check_interval > 0;

const groups: Rule = ({ algorithm, env }, _, { algorithm: family }) => {
  if (!family?.groups) return [];
  const { adv_type: name, group_size: size } = algorithm;
  return [
    ...when(
      size < 2,
      "algorithm.group_size",
      `is ${size}, but ${name} compares the members of a group: it needs 2 or more`,
    ),
    ...when(
      env.train.group_size !== size,
      "env.train.group_size",
      `is ${env.train.group_size}, but algorithm.group_size is ${size}: groups would mix different initial states; ` +
        `write group_size: \${algorithm.group_size} here`,
    ),
    ...when(
      env.train.auto_reset,
      "env.train.auto_reset",
      `is true, but ${name} compares one episode per env with others from the same start: a restarted env would add the rewards of several ` +
        "episodes, from starts that its group does not share; set it to False",
    ),
    ...when(
      !env.train.use_fixed_reset_state_ids && (env.train.specific_reset_id ?? null) === null,
      "env.train.use_fixed_reset_state_ids",
      `is false: every env would draw its own start, and ${name} would compare episodes that began differently; set it to True`,
    ),
  ];
};

const critic: Rule = ({ algorithm, actor }, _, { algorithm: family }) => {
  const { adv_type: name, loss_type: loss } = algorithm;
  const trains = loss === "actor_critic" || loss === "decoupled_actor_critic";
  if (trains && family?.needsCritic === false)
    return when(
      true,
      "algorithm.loss_type",
      `is ${loss}, but ${name} has no critic: set loss_type: actor, or an adv_type with a critic`,
    );
  return [
    ...when(
      !trains && family?.needsCritic === true,
      "algorithm.loss_type",
      `is ${loss}, but ${name} measures advantages against a critic, and this loss trains none: ` +
        "set loss_type: actor_critic and actor.model.add_value_head: True, or an adv_type without a critic",
    ),
    ...when(
      trains && !actor.model.add_value_head,
      "actor.model.add_value_head",
      `must be true: the loss ${loss} trains a critic`,
    ),
    ...when(
      trains && actor.optim.value_lr === undefined,
      "actor.optim.value_lr",
      "must be set: it is the learning rate of the critic",
    ),
    ...when(
      trains && actor.model.value_type !== algorithm.reward_type && algorithm.reward_type !== undefined,
      "actor.model.value_type",
      `is ${actor.model.value_type}, but algorithm.reward_type is ${algorithm.reward_type}: values and rewards must have the same shape`,
    ),
  ];
};

const evaluation: Rule = (config) => {
  const { runner, env } = config;
  return [
    ...when(evaluates(config) && env.eval === undefined, "env.eval", "is missing, but the run evaluates"),
    ...when(
      runner.val_check_interval > 0 &&
        runner.save_interval > 0 &&
        runner.save_interval % runner.val_check_interval !== 0,
      "runner.save_interval",
      `${runner.save_interval} is not a multiple of val_check_interval ${runner.val_check_interval}: checkpoints would have no evaluation`,
    ),
  ];
};

/** Fresh starts are only worth something while nothing learns from them. */
const unseenStarts: Rule = ({ env }) =>
  when(
    String(env.train.starts ?? "stored") !== "stored",
    "env.train.starts",
    `is ${env.train.starts}, but fresh starts are kept for evaluations: training on them would make them seen; set env.eval.starts`,
  );

const modes: Rule = ({ runner, algorithm, rollout }, ranks, { algorithm: family }) => [
  ...when(
    runner.use_training_pipeline && family?.groups === true,
    "runner.use_training_pipeline",
    `needs an adv_type without groups, found ${algorithm.adv_type}: a group is only complete when all of its episodes are`,
  ),
  ...when(
    runner.enable_decoupled_mode && (rollout.pipeline_stage_num !== 1 || ranks.env < ranks.rollout),
    "runner.enable_decoupled_mode",
    "needs pipeline_stage_num 1 and at least as many env workers as rollout workers",
  ),
];

const rewardFilter: Rule = ({ algorithm }) => {
  const { filter_rewards: filters, rewards_lower_bound: low, rewards_upper_bound: high } = algorithm;
  return when(
    filters === true && Number(low) > Number(high),
    "algorithm.rewards_lower_bound",
    `is ${low}, above rewards_upper_bound ${high}: every group would be dropped`,
  );
};

/** Outside, the softmax is all one token or all tokens alike, and log-probabilities overflow. */
const temperatureBounds = [1e-3, 1e3] as const;

const temperatures: Rule = ({ rollout, runner }) => {
  const { sampling_params: sampling } = rollout;
  const [least, most] = temperatureBounds;
  const given: [string, number | null | undefined][] = [
    ["rollout.sampling_params.temperature", sampling.temperature],
    ["rollout.sampling_params.temperature_train", sampling.temperature_train],
    ["rollout.sampling_params.temperature_eval", sampling.temperature_eval],
    ["runner.co_evolution.temperatures", Math.min(...runner.co_evolution.temperatures)],
    ["runner.co_evolution.temperatures", Math.max(...runner.co_evolution.temperatures)],
  ];
  return given.flatMap(([path, value]) =>
    when(
      typeof value === "number" && value > 0 && (value < least || value > most),
      path,
      `${value} is no useful temperature: expected ${least} to ${most}, or 0 for the most probable action`,
    ),
  );
};

const length: Rule = ({ runner }) => {
  const { max_epochs: epochs, max_steps: steps, only_eval: only } = runner;
  const [key, value] = steps >= 0 && steps < epochs ? ["max_steps", steps] : ["max_epochs", epochs];
  return when(
    !only && value === 0,
    `runner.${key}`,
    "is 0: nothing will be trained; to evaluate a policy use reverie eval",
    "warning",
  );
};

/** What would change the run and cannot be had: refused, not ignored. */
const unavailable: Rule = ({ reward, critic, env }) => [
  ...when(
    reward.use_reward_model,
    "reward.use_reward_model",
    "is true, but there are no reward workers here: rewards come from the environment, those of imagined ones from its own reward_model",
  ),
  ...when(
    critic.use_critic_model,
    "critic.use_critic_model",
    "is true, but the critic is the policy's value head here: set actor.model.add_value_head instead",
  ),
  ...(["train", "eval"] as const).flatMap((section) =>
    (["override_cfg", "override_cfgs"] as const).flatMap((key) =>
      when(
        Object.keys(env[section]?.[key] ?? {}).length > 0,
        `env.${section}.${key}`,
        `is not available: all env workers share one section; write the values in env.${section} itself`,
      ),
    ),
  ),
];

const precision: Rule = ({ actor }) => {
  const { amp_autocast: autocast, mixed_precision: mixed } = actor.fsdp_config;
  const half = [mixed.param_dtype, mixed.reduce_dtype].some(
    (each) => each !== undefined && each !== null && !/fp32|float32/.test(each),
  );
  return when(
    autocast.enabled && half,
    "actor.fsdp_config.amp_autocast.enabled",
    "cannot be combined with a 16-bit mixed_precision: choose one",
  );
};

const divisions: Rule = (config, ranks) =>
  batchFaults(config, ranks).map((fault) => ({ ...fault, severity: "error" }));

const evaluationShare: Rule = (config, ranks) => {
  if (!evaluates(config) || !config.env.eval) return [];
  const wanted = config.env.eval.total_num_envs ?? 0;
  const used = evaluationSlots(config, ranks);
  const sharers = `${ranks.env} env workers × ${config.rollout.pipeline_stage_num} stages`;
  if (used === 0) return when(true, "env.eval.total_num_envs", `is ${wanted}: too few for ${sharers}`);
  return when(
    used !== wanted,
    "env.eval.total_num_envs",
    `${wanted} slots cannot be shared evenly by ${sharers}: ${used} are used; every initial state is still evaluated once`,
    "warning",
  );
};

const episodes: Rule = ({ env, actor }) =>
  (["train", "eval"] as const).flatMap((section) => {
    const settings = env[section];
    if (!settings) return [];
    const { max_steps_per_rollout_epoch: steps, max_episode_steps: horizon } = settings;
    return [
      ...when(
        horizon < actor.model.num_action_chunks,
        `env.${section}.max_episode_steps`,
        `is ${horizon}, but the policy decides ${actor.model.num_action_chunks} actions at a time ` +
          "(actor.model.num_action_chunks): an episode would end inside its first chunk",
      ),
      ...when(
        section === "eval" && steps % actor.model.num_action_chunks !== 0,
        "env.eval.max_steps_per_rollout_epoch",
        `${steps} is not a multiple of the ${actor.model.num_action_chunks} actions of a chunk`,
      ),
      ...when(
        !settings.auto_reset && steps > horizon,
        `env.${section}.max_steps_per_rollout_epoch`,
        `is ${steps}, but without auto_reset nothing happens after max_episode_steps ${horizon}`,
        "warning",
      ),
    ];
  });

/** Environments that a world model imagines. */
const honesty: Rule = ({ runner, env }, _, families) => {
  const { co_evolution: evolution, stop_when_gap_grows: gap } = runner;
  const inDream = families.train?.plays === "dream";
  const [train, test] = [env.train.task_suite_name, env.eval?.task_suite_name];
  return [
    ...when(
      evolution.enabled && !inDream,
      "runner.co_evolution.enabled",
      `needs an imagined env.train (an env_type that ends in _wm), found ${env.train.env_type}: a simulator has nothing to learn`,
    ),
    ...when(
      evolution.enabled && families.eval?.plays !== "suite",
      "runner.co_evolution.enabled",
      "needs a simulator as env.eval (env_type: libero): that is where the policy's real episodes are played",
    ),
    ...when(
      evolution.enabled && train !== undefined && test !== undefined && train !== test,
      "env.eval.task_suite_name",
      `is ${test}, but the world imagines ${train}: it would learn from episodes of other tasks`,
    ),
    ...when(
      evolution.enabled && evolution.episodes > 0 && evolution.data.length === 0,
      "runner.co_evolution.data",
      "is empty: the world will learn from new episodes only, and forget the rest; name the folders that it was made from",
      "warning",
    ),
    ...when(
      gap.enabled && (!inDream || env.eval === undefined || families.eval?.plays === "dream"),
      "runner.stop_when_gap_grows.enabled",
      "needs an imagined env.train and a simulator as env.eval",
    ),
    ...when(
      gap.enabled && runner.val_check_interval <= 0,
      "runner.val_check_interval",
      `is ${runner.val_check_interval}, but runner.stop_when_gap_grows needs evaluations: set it above 0`,
    ),
  ];
};

/** Checkpoints go into a folder of this name inside log_path, and nowhere else. */
const outputs: Rule = ({ runner }) => {
  const { experiment_name: name } = runner.logger;
  const inside = relative("logs", join("logs", name));
  return when(
    inside === "" || inside.startsWith("..") || name.includes("\0"),
    "runner.logger.experiment_name",
    `is ${JSON.stringify(name)}, which is no folder inside runner.logger.log_path: expected a name such as my_run`,
  );
};

export const rules: readonly Rule[] = [
  groups,
  critic,
  rewardFilter,
  temperatures,
  length,
  evaluation,
  unseenStarts,
  modes,
  unavailable,
  precision,
  divisions,
  evaluationShare,
  episodes,
  honesty,
  outputs,
];

export function findings(config: RunConfig, ranks: RankCounts, families: ChosenFamilies): Finding[] {
  return rules.flatMap((rule) => rule(config, ranks, families));
}
