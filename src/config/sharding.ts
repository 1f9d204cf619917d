/**
 * What actor ranks spread among them, in FSDP's words and in ours.
 *
 * `full_shard` that does not reshard after the forward pass keeps the weights whole until the update, which is `shard_grad_op`. On one
 * machine `hybrid_shard` is `full_shard`.
 */
import type { RunConfig } from "./frame/index.ts";

/** Nothing; gradients' sums and the optimizer's state; or the weights too. */
export type Sharding = "none" | "updates" | "weights";

export function shardingOf({ actor }: Pick<RunConfig, "actor">, ranks: number): Sharding {
  const { sharding_strategy: strategy, reshard_after_forward: again } = actor.fsdp_config;
  if (ranks === 1 || strategy === "no_shard") return "none";
  return strategy === "shard_grad_op" || !again ? "updates" : "weights";
}
