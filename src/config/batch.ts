/**
 * The arithmetic of one training step: how many samples, how they are dealt out, how many optimizer steps.
 *
 * A sample is one chunk decision. A column is one slot in one rollout epoch; actor rank a learns from the
 * a-th block of columns, so a group is whole when a block's width is a multiple of the group's size.
 */
import type { RunConfig } from "./frame/index.ts";

export interface RankCounts {
  readonly env: number;
  readonly rollout: number;
  readonly actor: number;
}

export interface BatchPlan {
  readonly slots: number; // environment slots in all
  readonly slotsPerStage: number; // in one env worker and pipeline stage
  readonly samplesPerAnswer: number; // observations that one rollout worker answers at once
  readonly decisions: number; // T: chunk decisions per slot and rollout epoch
  readonly columns: number; // slots × rollout epochs: trajectories, without auto-reset
  readonly groups: number;
  readonly samples: number; // per training step
  readonly samplesPerActor: number;
  readonly updateEpochs: number;
  readonly optimizerSteps: number; // per training step
  readonly microBatches: number; // per optimizer step and rank
  readonly trainingSteps: number; // of the whole run
  readonly environmentSteps: number; // actions executed per training step
}

export interface BatchFault {
  readonly path: string;
  readonly message: string;
}

export function planBatch(config: RunConfig, ranks: RankCounts): BatchPlan {
  const { train } = config.env;
  const stages = config.rollout.pipeline_stage_num;
  const slots = train.total_num_envs ?? 0;
  const decisions = train.max_steps_per_rollout_epoch / config.actor.model.num_action_chunks;
  const columns = slots * train.rollout_epoch;
  const samples = columns * decisions;
  const updateEpochs = Number(config.algorithm.update_epoch ?? 1);
  const { max_epochs, max_steps } = config.runner;
  return {
    slots,
    slotsPerStage: slots / (ranks.env * stages),
    samplesPerAnswer: slots / (ranks.rollout * stages),
    decisions,
    columns,
    groups: columns / config.algorithm.group_size,
    samples,
    samplesPerActor: samples / ranks.actor,
    updateEpochs,
    optimizerSteps: (samples / config.actor.global_batch_size) * updateEpochs,
    microBatches: config.actor.global_batch_size / (config.actor.micro_batch_size * ranks.actor),
    trainingSteps: max_steps >= 0 ? Math.min(max_epochs, max_steps) : max_epochs,
    environmentSteps: columns * train.max_steps_per_rollout_epoch,
  };
}

/**
 * Slots that an evaluation uses: the largest number, up to the wanted one, that env workers and stages can
 * share evenly.
 */
export function evaluationSlots(config: RunConfig, ranks: RankCounts): number {
  const unit = ranks.env * config.rollout.pipeline_stage_num;
  return Math.floor((config.env.eval?.total_num_envs ?? 0) / unit) * unit;
}

/** Everything that must divide and does not, in the words of the settings that can be changed. */
export function batchFaults(config: RunConfig, ranks: RankCounts): BatchFault[] {
  const plan = planBatch(config, ranks);
  const { train } = config.env;
  const stages = config.rollout.pipeline_stage_num;
  const { global_batch_size: global, micro_batch_size: micro } = config.actor;
  const chunk = config.actor.model.num_action_chunks;
  const faults: BatchFault[] = [];
  const divides = (value: number, divisor: number, path: string, why: string): void => {
    if (value % divisor !== 0)
      faults.push({ path, message: `${value} is not a multiple of ${divisor} (${why})` });
  };
  if (plan.slots === 0)
    return [{ path: "env.train.total_num_envs", message: "must be set to the number of environments" }];
  divides(
    plan.slots,
    ranks.env * stages,
    "env.train.total_num_envs",
    `${ranks.env} env workers × ${stages} pipeline stages`,
  );
  divides(
    plan.slots,
    ranks.rollout * stages,
    "env.train.total_num_envs",
    `${ranks.rollout} rollout workers × ${stages} pipeline stages`,
  );
  divides(plan.slots, train.group_size, "env.train.total_num_envs", "the group size");
  divides(
    train.max_steps_per_rollout_epoch,
    chunk,
    "env.train.max_steps_per_rollout_epoch",
    "actions per chunk",
  );
  divides(
    global,
    micro * ranks.actor,
    "actor.global_batch_size",
    `micro_batch_size ${micro} × ${ranks.actor} actor ranks`,
  );
  if (faults.length > 0) return faults;
  divides(
    plan.columns,
    ranks.actor,
    "env.train.total_num_envs",
    `trajectories per step over ${ranks.actor} actor ranks`,
  );
  divides(
    plan.columns / ranks.actor,
    config.algorithm.group_size,
    "algorithm.group_size",
    "so that no group is split between actor ranks",
  );
  divides(
    plan.samples,
    global,
    "actor.global_batch_size",
    "samples per training step must fill whole batches",
  );
  return faults.map((fault) =>
    fault.path === "actor.global_batch_size" && plan.samples % global !== 0
      ? {
          ...fault,
          message: `${plan.samples} samples per training step do not fill whole batches of ${global}`,
        }
      : fault,
  );
}
