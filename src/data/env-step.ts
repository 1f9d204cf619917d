/**
 * What an environment answers to one chunk of actions.
 *
 * Shapes: B slots, C actions in a chunk. Flags follow the chunk-level convention: when slots reset themselves
 * or terminations are ignored, only column C−1 can be true; otherwise each flag stands at its own sub-step,
 * which is what makes action-level loss masks exact.
 */
import type { Tensor } from "#tensor";
import type { Observation } from "./observation.ts";

/**
 * Numbers about the running or just finished episode of each slot, one Float32Array of length B per name:
 * `success_once`, `return`, `reward`, `episode_len`, and `success_at_end` where the env reports it.
 */
export type EpisodeStats = Readonly<Record<string, Float32Array>>;

export interface EnvStep {
  readonly observation: Observation; // what the policy sees next: after the reset, for slots that reset themselves
  readonly rewards: Tensor; // float32 [B, C]
  readonly terminated: Tensor; // bool [B, C]; the task ended (success or failure)
  readonly truncated: Tensor; // bool [B, C]; time ran out
  readonly episode: EpisodeStats; // taken before any reset, so finished slots report the finished episode
  /** Last sight before a slot reset itself; rows of slots that did not reset equal `observation`'s. */
  readonly finalObservation?: Observation | undefined;
}

/** The critic's opinion of `finalObservation`, used to bootstrap rewards of slots that reset themselves. */
export type BootstrapValues = Tensor; // float32 [B, V]
