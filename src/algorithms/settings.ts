/** The `algorithm` section of a configuration, in the seeds' keys. */
import { z } from "zod";

const level = z.enum(["token_level", "action_level", "chunk_level"]);

/**
 * How log-probabilities become a divergence from the reference policy (http://joschu.net/blog/kl-approx.html):
 * `kl`/`k1` ℓ−ℓ_ref · `abs` |ℓ−ℓ_ref| · `mse`/`k2` ½(ℓ−ℓ_ref)² · `low_var_kl`/`k3` e^d−d−1, d = ℓ_ref−ℓ.
 */
export const klPenalty = z.enum(["kl", "k1", "abs", "mse", "k2", "low_var_kl", "k3"]);

/**
 * How element losses become one number, over the whole minibatch and all ranks:
 * `token-mean` the mean of valid elements · `seq-mean-token-sum` sums of trajectories, averaged ·
 * `seq-mean-token-mean` means of trajectories, averaged: every trajectory weighs the same, however long.
 */
export const lossAggregation = z.enum(["token-mean", "seq-mean-token-sum", "seq-mean-token-mean"]);

export const algorithmSettings = z
  .strictObject({
    adv_type: z.enum(["grpo", "gae"]),
    loss_type: z.enum(["actor", "actor_critic"]),
    group_size: z.int().positive().describe("episodes that share a start, and are compared"),
    reward_type: z
      .enum(["action_level", "chunk_level"])
      .describe("what one reward and one advantage belong to"),
    logprob_type: level.describe("what one probability ratio belongs to"),
    entropy_type: level.default("token_level"),
    normalize_advantages: z
      .boolean()
      .default(true)
      .describe("divide by the spread: of the group (grpo), of the whole batch (gae)"),
    kl_penalty: klPenalty.default("kl"),
    kl_beta: z
      .number()
      .min(0)
      .default(0)
      .describe("weight of the divergence from the reference policy; 0: none is kept"),
    loss_agg_func: lossAggregation.default("seq-mean-token-mean"),
    clip_ratio_low: z.number().min(0).max(1).describe("how far a ratio may fall below 1"),
    clip_ratio_high: z.number().min(0).describe("how far a ratio may rise above 1"),
    clip_ratio_c: z.number().gt(1).nullish().describe("dual clip: bounds the loss of a bad action by c·|A|"),
    clip_log_ratio_min: z.number().nullish(),
    clip_log_ratio_max: z.number().nullish(),
    value_clip: z.number().positive().default(0.2).describe("how far a value may move from its old self"),
    huber_delta: z.number().positive().default(10).describe("errors beyond it count linearly"),
    entropy_bonus: z.number().min(0).default(0).describe("weight of the entropy in the loss"),
    gamma: z.number().min(0).max(1).default(1).describe("discount of rewards per decision"),
    gae_lambda: z.number().min(0).max(1).default(1).describe("GAE's λ"),
    bootstrap_type: z.enum(["standard", "always"]).default("standard"),
    update_epoch: z.int().positive().default(1).describe("passes over the samples of a step"),
    reward_coef: z.number().default(1).describe("only read by other settings that refer to it"),
    filter_rewards: z.boolean().default(false).describe("drop groups whose mean return is out of bounds"),
    rewards_lower_bound: z
      .number()
      .optional()
      .describe("groups whose mean return is below teach nothing (filter_rewards)"),
    rewards_upper_bound: z
      .number()
      .optional()
      .describe("groups whose mean return is above teach nothing (filter_rewards)"),
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
    resample_dead_groups: z
      .int()
      .min(0)
      .default(0)
      .describe("how often a group without any spread is collected again"),
    shuffle_rollout: z.boolean().default(true).describe("shuffle samples before they are split into batches"),
  })
  .refine(
    (s) => !s.filter_rewards || (s.rewards_lower_bound !== undefined && s.rewards_upper_bound !== undefined),
    {
      error: "filter_rewards needs rewards_lower_bound and rewards_upper_bound",
      path: ["filter_rewards"],
    },
  )
  .refine((s) => s.logprob_type !== "chunk_level" || s.reward_type === "chunk_level", {
    error: "logprob_type chunk_level needs reward_type chunk_level: one ratio cannot have several advantages",
    path: ["logprob_type"],
  })
  .refine((s) => !s.shuffle_within_groups || (s.shuffle_advantages && s.adv_type === "grpo"), {
    error: "shuffle_within_groups says how shuffle_advantages mixes groups of adv_type grpo: it needs both",
    path: ["shuffle_within_groups"],
  });

export type AlgorithmSettings = z.infer<typeof algorithmSettings>;
export type Level = z.infer<typeof level>;
