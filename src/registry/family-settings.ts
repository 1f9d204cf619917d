/**
 * What a family (an environment, a policy, an algorithm) says about its part of a configuration.
 *
 * The schema lives beside the family, so that adding one never touches the configuration room; its keys join those
 * that the frame already knows (`total_num_envs`, `model_path`, …). A key that neither knows is an error.
 */
import type { z } from "zod";

/** Memory that a family needs on an accelerator, in bytes, for the plan of a run. All numbers are estimates. */
export interface Footprint {
  readonly parameters: number; // weights in all; 0 for a simulator
  readonly trainableParameters?: number; // those that an optimizer would hold state for; default: all
  readonly deviceBytes?: number; // beyond the weights, once per process: a renderer, a cache
  readonly deviceBytesPerSlot?: number; // per environment slot, or per sample that is answered at once
  readonly trainBytesPerSample?: number; // activations kept per sample of a micro-batch, with recomputation
  readonly note?: string; // what the numbers rest on
}

export interface FamilySettings {
  /** The family's own keys: a strict object. A key of the frame may be narrowed here. */
  readonly settings: z.ZodType;
  /** Keys that it accepts, because files made for others have them, and that do nothing: key → why. */
  readonly unused?: Readonly<Record<string, string>>;
  /** Of an environment: whether it plays a suite's tasks in a simulator, or imagines in a learned world; absent: neither. */
  readonly plays?: "suite" | "dream";
  /** Of a policy: whether it samples tokens, so that top_k and temperatures say how. */
  readonly samplesTokens?: boolean;
  /** Whether it can leave the accelerator between phases (`enable_offload`). */
  readonly offload?: boolean;
  /** Why it is validated but cannot run, where that is so. */
  readonly unplayable?: string;
  readonly footprint?: (settings: Readonly<Record<string, unknown>>) => Footprint;
  /** Sentences about combinations that the schema cannot see; `path` is relative to the family's section. */
  readonly check?: (
    settings: Readonly<Record<string, unknown>>,
    run: Readonly<Record<string, unknown>>,
  ) => readonly {
    readonly path: string;
    readonly message: string;
    readonly severity?: "error" | "warning";
  }[];
}
