/**
 * The frame of a run: what the core itself must know, strict to the last key.
 *
 * The environment, the policy and the algorithm are families: the frame knows their shared keys and leaves
 * the rest to the schema that lives beside each family.
 */
import { z } from "zod";
import { actorFrame, modelFrame } from "./actor.ts";
import { clusterFrame } from "./cluster.ts";
import { environmentFrame, environmentsFrame } from "./environment.ts";
import { rolloutFrame } from "./rollout.ts";
import { runnerFrame } from "./runner.ts";

export { environmentFrame, modelFrame };

const reward = z.looseObject({
  use_reward_model: z
    .boolean()
    .default(false)
    .describe("must be false: there are no reward workers; imagined envs have a reward model of their own"),
  group_name: z.string().default("RewardGroup").describe("no effect here: there are no reward workers"),
  reward_weight: z.number().default(1).describe("no effect here: there are no reward workers"),
  env_reward_weight: z.number().default(0).describe("no effect here: there are no reward workers"),
});

const critic = z.strictObject({
  use_critic_model: z
    .boolean()
    .default(false)
    .describe("must be false: the critic is the policy's value head (actor.model.add_value_head)"),
});

const weightSyncer = z.looseObject({
  type: z
    .enum(["patch", "bucket"])
    .default("patch")
    .describe("no effect here: what is trained is handed over, whole"),
});

export const runFrame = z.strictObject({
  plugins: z
    .array(z.string())
    .default([])
    .describe("files of your own code with environments, policies, algorithms and more: docs/extend"),
  cluster: clusterFrame,
  runner: runnerFrame,
  algorithm: z.looseObject({ adv_type: z.string(), loss_type: z.string(), group_size: z.int().positive() }),
  env: environmentsFrame,
  rollout: rolloutFrame,
  actor: actorFrame,
  reward: reward.prefault({}),
  critic: critic.prefault({}),
  weight_syncer: weightSyncer.prefault({}),
});

/** A whole run, checked. Keys of families are there too, as their schemas returned them. */
export type RunConfig = z.infer<typeof runFrame>;
export type EnvironmentConfig = RunConfig["env"]["train"];

/**
 * Whether a setting of this name may exist, written in a file or not. In a family's section, and below
 * `component_placement`, any name may: the family's own schema, or the placement, will say.
 */
export function frameKnows(path: readonly string[]): boolean {
  let schema: unknown = runFrame;
  for (const key of path) {
    const inner = unwrap(schema);
    if (inner instanceof z.ZodRecord) return true;
    if (!(inner instanceof z.ZodObject)) return false;
    const shape = inner.shape as Record<string, unknown>;
    if (!Object.hasOwn(shape, key))
      return inner.def.catchall !== undefined && !(inner.def.catchall instanceof z.ZodNever);
    schema = shape[key];
  }
  return true;
}

/** The keys of an object schema, through optional, nullable and default wrappers. */
export function shapeOf(schema: unknown): Record<string, unknown> | undefined {
  const inner = unwrap(schema);
  return inner instanceof z.ZodObject ? (inner.shape as Record<string, unknown>) : undefined;
}

function unwrap(schema: unknown): unknown {
  const inner = (schema as { def?: { innerType?: unknown } } | undefined)?.def?.innerType;
  return inner === undefined ? schema : unwrap(inner);
}
