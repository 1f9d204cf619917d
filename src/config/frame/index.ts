/**
 * The frame of a run: what the core itself must know, strict to the last key.
 *
 * The environment, the policy and the algorithm are families: the frame knows their shared keys and leaves
 * the rest to the schema that lives beside each family.
 */
import { z } from "zod";
import { schemaKnows } from "../schema-keys.ts";
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

/** In a family's section, and below `component_placement`, any name may be: the family's own schema, or the placement, will say. */
export const frameKnows = (path: readonly string[]): boolean => schemaKnows(runFrame, path);
