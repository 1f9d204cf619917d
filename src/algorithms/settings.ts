/**
 * The keys of the `algorithm` section, in the reference's spelling, in parts that an algorithm's own schema is made of.
 *
 * `sharedSettings` is what the loop, the actor and every loss read; the other parts are for algorithms that clip ratios, compare
 * groups or have a critic.
 */
import { z } from "zod";

const level = z.enum(["token_level", "action_level", "chunk_level"]);

/**
 * How log-probabilities become a divergence from the reference policy (http://joschu.net/blog/kl-approx.html):
 * `kl`/`k1` ℓ−ℓ_ref · `abs` |ℓ−ℓ_ref| · `mse`/`k2` ½(ℓ−ℓ_ref)² · `low_var_kl`/`k3` e^d−d−1, d = ℓ_ref−ℓ.
 */
const klPenalty = z.enum(["kl", "k1", "abs", "mse", "k2", "low_var_kl", "k3"]);

/**
 * How element losses become one number, over the whole minibatch and all ranks:
 * `token-mean` the mean of valid elements · `seq-mean-token-sum` sums of trajectories, averaged ·
 * `seq-mean-token-mean` means of trajectories, averaged: every trajectory weighs the same, however long.
 */
export const lossAggregation = z
  .enum(["token-mean", "seq-mean-token-sum", "seq-mean-token-mean"])
  .describe("how element losses become one number, over the whole minibatch and all ranks");

export const sharedSettings = {
  adv_type: z.string().describe("the algorithm, one of `reverie list algorithms`"),
  loss_type: z
    .enum(["actor", "actor_critic"])
    .describe("what is trained: the policy, or the policy and its critic"),
  group_size: z.int().positive().describe("episodes that share a start, and are compared"),
  reward_type: z
    .enum(["action_level", "chunk_level"])
    .describe("what one reward and one advantage belong to"),
  logprob_type: level.describe("what one probability ratio belongs to"),
  entropy_type: level.default("token_level").describe("what one entropy belongs to"),
  kl_penalty: klPenalty
    .default("kl")
    .describe("how log-probs become a divergence; docs/algorithms/grpo.md has the formulas"),
  kl_beta: z
    .number()
    .min(0)
    .default(0)
    .describe("weight of the divergence from the reference policy; 0: none is kept"),
  loss_agg_func: lossAggregation.default("seq-mean-token-mean"),
  entropy_bonus: z.number().min(0).default(0).describe("weight of the entropy in the loss"),
  update_epoch: z.int().positive().default(1).describe("passes over the samples of a step"),
  reward_coef: z.number().default(1).describe("only read by other settings that refer to it"),
  shuffle_advantages: z
    .boolean()
    .default(false)
    .describe("control run: every episode learns from another one's advantage"),
  shuffle_within_groups: z
    .boolean()
    .default(false)
    .describe(
      "of shuffle_advantages: another one of the same group, so that each group keeps its advantages",
    ),
  shuffle_rollout: z.boolean().default(true).describe("shuffle samples before they are split into batches"),
};

/** For the clipped ratio (ratio-clip.ts). */
export const clipSettings = {
  clip_ratio_low: z.number().min(0).max(1).describe("how far a ratio may fall below 1"),
  clip_ratio_high: z.number().min(0).describe("how far a ratio may rise above 1"),
  clip_ratio_c: z.number().gt(1).nullish().describe("dual clip: bounds the loss of a bad action by c·|A|"),
  clip_log_ratio_min: z.number().nullish().describe("the logarithm of a ratio is never smaller"),
  clip_log_ratio_max: z.number().nullish().describe("the logarithm of a ratio is never larger"),
};

/** For algorithms that compare the members of a group (group-advantages.ts). */
export const groupSettings = {
  filter_rewards: z.boolean().default(false).describe("drop groups whose mean return is out of bounds"),
  rewards_lower_bound: z
    .number()
    .optional()
    .describe("groups whose mean return is below teach nothing (filter_rewards)"),
  rewards_upper_bound: z
    .number()
    .optional()
    .describe("groups whose mean return is above teach nothing (filter_rewards)"),
  resample_dead_groups: z
    .int()
    .min(0)
    .default(0)
    .describe("how often a step collects again while groups of its batch have no spread"),
  filter_dead_groups: z
    .boolean()
    .default(false)
    .describe("leave groups without any spread out of the loss; with token-mean, out of its divisor too"),
};

/** For advantages and losses of a critic (gae.ts, value-loss.ts, bootstrap.ts). */
export const criticSettings = {
  value_clip: z.number().positive().default(0.2).describe("how far a value may move from its old self"),
  huber_delta: z.number().positive().default(10).describe("errors beyond it count linearly"),
  gamma: z.number().min(0).max(1).default(1).describe("discount of rewards per decision"),
  gae_lambda: z.number().min(0).max(1).default(1).describe("GAE's λ"),
  bootstrap_type: z
    .enum(["standard", "always"])
    .default("standard")
    .describe(
      "with auto_reset, whose last reward gets the critic's value added: episodes whose time ran out, or also those that ended",
    ),
};

type Keys<Shape extends z.ZodRawShape> = z.infer<z.ZodObject<Shape>>;
export type ClipSettings = Keys<typeof clipSettings>;
export type GroupSettings = Keys<typeof groupSettings>;
export type CriticSettings = Keys<typeof criticSettings>;
/** What the core may read of any algorithm: the shared keys, and those of the parts that it has. */
export type AlgorithmSettings = Keys<typeof sharedSettings> & Partial<GroupSettings & CriticSettings>;
export type Level = z.infer<typeof level>;

/** What must hold between keys, whatever the algorithm. */
export function withSharedRules<S extends AlgorithmSettings>(
  schema: z.ZodType<S>,
  groups: boolean,
): z.ZodType<S> {
  return schema
    .refine(
      (s) =>
        !s.filter_rewards || (s.rewards_lower_bound !== undefined && s.rewards_upper_bound !== undefined),
      {
        error: "filter_rewards needs rewards_lower_bound and rewards_upper_bound",
        path: ["filter_rewards"],
      },
    )
    .refine((s) => s.logprob_type !== "chunk_level" || s.reward_type === "chunk_level", {
      error:
        "logprob_type chunk_level needs reward_type chunk_level: one ratio cannot have several advantages",
      path: ["logprob_type"],
    })
    .refine((s) => !s.shuffle_within_groups || (s.shuffle_advantages && groups), {
      error:
        "shuffle_within_groups says how shuffle_advantages mixes groups: it needs shuffle_advantages, and an adv_type that compares groups",
      path: ["shuffle_within_groups"],
    });
}

/** What the reference computes whatever its file says. */
const referenceAggregation = "seq-mean-token-mean";

/** For algorithms of the reference: where their loss here is another than there. */
export const warnOfAggregation = ({ loss_agg_func: chosen }: Readonly<Record<string, unknown>>) =>
  chosen === undefined || chosen === referenceAggregation
    ? []
    : [
        {
          path: "loss_agg_func",
          severity: "warning" as const,
          message:
            `${chosen} is obeyed here. RLinf has the key in its files and ignores it: its loss is always ${referenceAggregation}. ` +
            `So this run trains another loss than RLinf with the same file; for RLinf's loss set algorithm.loss_agg_func=${referenceAggregation}`,
        },
      ];
