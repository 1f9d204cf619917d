/**
 * Every metric by name, with its unit and meaning: the source of docs/metrics.md.
 *
 * Names are those of the LIBERO, OpenSora and Wan documents; `aliases` are the second family of names, from
 * the EVAC and BEHAVIOR documents, and the spellings that RLinf itself writes. Both are always written, so
 * that existing plots and scripts go on working.
 */

export interface MetricEntry {
  readonly name: string;
  readonly unit: string;
  readonly meaning: string;
  readonly aliases?: readonly string[];
}

const entry = (name: string, unit: string, meaning: string, ...aliases: string[]): MetricEntry => ({
  name,
  unit,
  meaning,
  ...(aliases.length > 0 && { aliases }),
});

const training: readonly MetricEntry[] = [
  entry(
    "train/loss",
    "loss",
    "What is minimized: policy loss + value loss − entropy bonus + KL penalty, each with its weight",
    "train/actor/total_loss",
  ),
  entry(
    "train/actor/policy_loss",
    "loss",
    "The surrogate of the policy gradient alone, after clipping and aggregation; near 0 at the first update of a step, where the ratio is 1",
    "actor/loss",
  ),
  entry(
    "train/actor/policy_loss_abs",
    "loss",
    "The same with the absolute value of each element: how much gradient there is when gains and losses cancel",
  ),
  entry(
    "train/actor/approx_kl",
    "nats per element",
    "Mean of log π_old − log π over valid elements: how far this step's updates have moved the policy. Per element at every log-prob level, so that levels compare",
  ),
  entry(
    "train/actor/clip_fraction",
    "fraction",
    "Share of valid elements whose ratio was clipped; 0.05 to 0.3 is usual, more says that steps are too large",
  ),
  entry("train/actor/clipped_ratio", "ratio", "Mean of the ratio π/π_old after clipping"),
  entry(
    "train/actor/ratio",
    "ratio",
    "Mean of the ratio π/π_old before clipping; far from 1 with little KL means heavy tails",
  ),
  entry("train/actor/ratio_abs", "ratio", "Mean of |ratio − 1|"),
  entry(
    "train/actor/dual_cliped_ratio",
    "ratio",
    "Mean of the ratio where the dual clip (`clip_ratio_c`) held a negative advantage back, counting 0 elsewhere; the spelling is the reference's",
  ),
  entry(
    "train/actor/reference_kl",
    "nats per element",
    "KL to the reference policy, before its weight; 0 without `kl_beta`",
  ),
  entry(
    "train/actor/grad_norm",
    "L2 norm",
    "Of all trainable parameters before clipping, over all ranks",
    "actor/grad_norm",
  ),
  entry("train/actor/lr", "per step", "Learning rate of the policy; 0 while the critic warms up", "actor/lr"),
  entry("train/critic/lr", "per step", "Learning rate of the value head"),
  entry(
    "train/critic/value_loss",
    "loss",
    "Huber or squared error of the critic, clipped around its old prediction",
    "actor/value_loss",
  ),
  entry(
    "train/critic/value_clip_ratio",
    "fraction",
    "Share of values that moved further than `value_clip` from their old prediction, measured before clipping",
  ),
  entry(
    "train/critic/explained_variance",
    "≤ 1",
    "1 − Var(return − value) / Var(return) over the whole step and all ranks: 1 is a perfect critic, 0 a constant one; NaN when all returns are equal",
  ),
  entry(
    "train/entropy_loss",
    "nats",
    "Mean entropy of the policy per `entropy_type`, with or without a bonus; absent where a policy has none (π0 whose noise is not learned)",
    "train/actor/entropy_loss",
    "actor/entropy",
  ),
];

const rollout: readonly MetricEntry[] = [
  entry(
    "rollout/rewards",
    "reward",
    "Mean reward of a chunk over valid entries, before any shaping by the algorithm",
    "rollout/reward_mean",
  ),
  entry("rollout/reward_std", "reward", "Standard deviation of the same"),
  entry(
    "rollout/advantages_max",
    "advantage",
    "Largest advantage over valid entries and all ranks, after normalization",
  ),
  entry("rollout/advantages_mean", "advantage", "Mean of the same; about 0 after normalization"),
  entry("rollout/advantages_min", "advantage", "Smallest of the same"),
  entry("rollout/returns_max", "reward", "Largest return; only with a critic"),
  entry("rollout/returns_mean", "reward", "Mean return; only with a critic"),
  entry("rollout/returns_min", "reward", "Smallest return; only with a critic"),
  entry("rollout/kept_fraction", "fraction", "Share of episodes that the reward filter kept"),
  entry(
    "rollout/dead_groups",
    "fraction",
    "Share of groups whose episodes all ended alike: their advantages are 0 and teach nothing",
  ),
  entry(
    "rollout/collections",
    "rollouts",
    "How often the step collected; with `resample_dead_groups` only, above 1 where groups were dead",
  ),
];

const environment: readonly MetricEntry[] = [
  entry(
    "env/success_once",
    "fraction",
    "Share of episodes that reached the goal at least once: the number to watch. In a world model it is the reward model's opinion; see `eval/success_once` for the simulator's",
    "env/success_rate",
    "rollout/success_rate",
  ),
  entry("env/success_at_end", "fraction", "Share of episodes that were at the goal when they ended"),
  entry(
    "env/fail_once",
    "fraction",
    "Share of episodes that failed beyond repair at least once, in envs that can tell",
  ),
  entry(
    "env/return",
    "reward",
    "Mean sum of rewards of an episode; with a sparse reward it says little more than success",
  ),
  entry("env/reward", "reward per step", "Mean of return / length", "env/step_reward"),
  entry("env/episode_len", "steps", "Mean number of control steps of an episode", "rollout/episode_length"),
  entry(
    "env/termination_rate",
    "fraction",
    "Share of episodes that ended by themselves and not by the time limit",
  ),
  entry(
    "env/success_by_task/<instruction>",
    "fraction",
    "`env/success_once` of the episodes with that instruction, where there were any",
  ),
  entry("env/num_trajectories", "episodes", "How many episodes the means above are over"),
  entry(
    "eval/success_once",
    "fraction",
    "As `env/success_once`, in the evaluation env; every `env/` metric has its `eval/` twin",
  ),
];

const world: readonly MetricEntry[] = [
  entry(
    "eval/dream_gap",
    "fraction",
    "While training in a world model: success in this step's dreams (`env/success_once`) less success in the simulator (`eval/success_once`). It mixes the world's mistakes with how often the policy succeeds; the closed-loop rates below do not",
  ),
  entry("eval/dream_success", "fraction", "The first of the two, repeated where it is compared"),
  entry(
    "eval/closed_loop_false_positive",
    "fraction",
    "With `runner.stop_when_gap_grows`, of episodes that the policy acts in the dream and the simulator plays again with the same actions: of real failures, the share imagined as successes, P(dream success given real failure). It grows when the policy learns the world's mistakes, whatever its success rate",
  ),
  entry(
    "eval/closed_loop_missed_success",
    "fraction",
    "Of the same episodes: of real successes, the share imagined as failures, P(dream failure given real success)",
  ),
  entry(
    "eval/closed_loop_false_success",
    "fraction",
    "Of the same episodes: of imagined successes, the share that failed, P(real failure given dream success). Falls as a policy improves, with the same world",
  ),
  entry("eval/closed_loop_dream_success", "fraction", "Of the same episodes: success in the dream"),
  entry("eval/closed_loop_true_success", "fraction", "Of the same episodes: success in the simulator"),
  entry(
    "world/false_positive",
    "fraction",
    "Co-evolution, open loop (recorded episodes of the current policy): of real failures, the share imagined as successes, P(dream success given real failure). Of the world that goes on after the round",
  ),
  entry(
    "world/missed_success",
    "fraction",
    "Of real successes, the share imagined as failures, P(dream failure given real success)",
  ),
  entry(
    "world/false_success",
    "fraction",
    "Of imagined successes, the share that failed in the simulator, P(real failure given dream success). Falls as a policy improves, with the same world",
  ),
  entry("world/agreement", "fraction", "Episodes on which dream and simulator say the same"),
  entry("world/dream_success", "fraction", "Episodes that succeed when their actions are imagined"),
  entry("world/true_success", "fraction", "Episodes that succeeded"),
  entry("world/gap", "fraction", "The difference of these two"),
  entry(
    "world/false_positive_before",
    "fraction",
    "`world/false_positive` of the world as it was before the round: what the policy had learned to exploit since the last one",
  ),
  entry("world/missed_success_before", "fraction", "`world/missed_success` before the round"),
  entry("world/false_success_before", "fraction", "`world/false_success` before the round"),
  entry("world/agreement_before", "fraction", "Agreement before the round"),
  entry(
    "world/rolled_back",
    "0 or 1",
    "Whether the refreshed world was refused because its meters were worse",
  ),
  entry("world/failed", "0 or 1", "Whether the round failed; the world stays as it is, and the log says why"),
  entry(
    "world/version",
    "step",
    "The training step after which the present world took over; 0: the given one",
  ),
];

const time: readonly MetricEntry[] = [
  entry("time/step", "s", "One whole training step"),
  entry("time/sync_weights", "s", "Actor's weights to the rollout workers"),
  entry("time/generate_rollouts", "s", "Collecting episodes: envs and policy together"),
  entry("time/cal_adv_and_returns", "s", "Advantages and returns"),
  entry("time/actor_training", "s", "All updates of the step"),
  entry("time/eval", "s", "Evaluation, in steps that have one"),
  entry(
    "time/co_evolution",
    "s",
    "Episodes in the simulator and a refresh of the world, in steps that have them",
  ),
  entry("time/save_checkpoint", "s", "Writing a checkpoint, in steps that have one"),
  entry(
    "time/<group>/<method>",
    "s",
    "One method of one worker group (env, rollout, actor, reward), the slowest rank",
  ),
];

export const metricCatalogue: Readonly<Record<string, readonly MetricEntry[]>> = {
  Training: training,
  Rollout: rollout,
  Environment: environment,
  "World models": world,
  Time: time,
};

const aliasesOf = new Map<string, readonly string[]>(
  Object.values(metricCatalogue)
    .flat()
    .flatMap(({ name, aliases = [] }) => {
      const family = [name, ...aliases];
      return family.map((member) => [member, family.filter((other) => other !== member)] as const);
    }),
);

/** Adds the other spellings of every metric that has some. A name that is given keeps its own value. */
export function withAliases(metrics: Readonly<Record<string, number>>): Record<string, number> {
  const all: Record<string, number> = { ...metrics };
  for (const [name, value] of Object.entries(metrics)) {
    for (const alias of aliasesOf.get(name) ?? []) {
      if (!Object.hasOwn(all, alias)) all[alias] = value;
    }
  }
  return all;
}

/** The tables of docs/metrics.md. */
export function renderCatalogue(): string {
  const row = ({ name, unit, meaning, aliases = [] }: MetricEntry): string =>
    `| ${[`\`${name}\``, ...aliases.map((alias) => `\`${alias}\``)].join("<br>")} | ${unit} | ${meaning.replaceAll("|", "\\|")} |`;
  return Object.entries(metricCatalogue)
    .map(([title, entries]) =>
      [`## ${title}`, "", "| name | unit | meaning |", "|---|---|---|", ...entries.map(row)].join("\n"),
    )
    .join("\n\n");
}
