/**
 * Predicts how much memory each accelerator needs, and how much disk a run writes.
 *
 * Per device and phase: while collecting, environments and rollout copies (and the actor, unless it is
 * offloaded); while training, the actor (and the others, unless they are offloaded). The larger phase counts. The first actor's
 * weights are also those of the rollout worker beside it, and count once.
 * These are estimates from parameter counts and shapes, meant to catch a placement that cannot fit, not to
 * replace a measurement.
 */
import type { Footprint } from "#registry";
import type { BatchPlan, RankCounts } from "./batch.ts";
import type { RunConfig } from "./frame/index.ts";
import type { Placement } from "./placement.ts";
import { shardingOf } from "./sharding.ts";

/** Gradient in the weights' precision, two moments and, beside 16-bit weights, a master copy in 32 bits. */
const momentBytes = 8;
const masterBytes = 4;
/** Room that the allocator and the libraries take per process (CUDA context, workspaces). */
const runtimeBytes = 1.5e9;

export interface MemoryParts {
  readonly actor: number;
  readonly rollout: number;
  readonly env: number;
  /** Of the rollout's: the policy's weights, which an actor on the same device may share. */
  readonly weights: number;
}

export interface DeviceMemory {
  readonly device: number;
  readonly collecting: number;
  readonly training: number;
  readonly peak: number;
}

export interface Footprints {
  readonly policy?: Footprint | undefined;
  readonly env?: Footprint | undefined;
}

export function bytesPerWeight(precision: string | number | null | undefined): number {
  return precision === null || precision === undefined || /32/.test(String(precision)) ? 4 : 2;
}

/** Bytes that one process of each component holds while it works. */
export function processMemory(
  config: RunConfig,
  batch: BatchPlan,
  ranks: RankCounts,
  feet: Footprints,
): MemoryParts {
  const { policy, env } = feet;
  const weight = bytesPerWeight(config.actor.model.precision);
  const parameters = policy?.parameters ?? 0;
  const trainable = policy?.trainableParameters ?? parameters;
  const sharding = shardingOf(config, ranks.actor);
  const update = trainable * (momentBytes + (weight < 4 ? masterBytes : 0));
  const network = (parameters + trainable) * weight; // weights and gradients
  const state =
    network / (sharding === "weights" ? ranks.actor : 1) + update / (sharding === "none" ? 1 : ranks.actor);
  const activations = (policy?.trainBytesPerSample ?? 0) * config.actor.micro_batch_size;
  return {
    weights: parameters * weight,
    actor: state + activations + runtimeBytes,
    rollout: parameters * weight + (policy?.deviceBytesPerSlot ?? 0) * batch.samplesPerAnswer + runtimeBytes,
    env:
      (env?.parameters ?? 0) * 2 +
      (env?.deviceBytes ?? 0) +
      (env?.deviceBytesPerSlot ?? 0) * batch.slotsPerStage * config.rollout.pipeline_stage_num +
      (env && env.parameters > 0 ? runtimeBytes : 0),
  };
}

export function deviceMemory(config: RunConfig, placement: Placement, parts: MemoryParts): DeviceMemory[] {
  const count = (name: string, device: number): number =>
    (placement.get(name) ?? []).filter((process) => process.devices.includes(device)).length;
  const devices = new Set([...placement.values()].flat().flatMap((process) => process.devices));
  const resident = (offload: boolean): number => (offload ? 0 : 1);
  return [...devices]
    .sort((a, b) => a - b)
    .map((device) => {
      const [actor, rollout, env] = [
        count("actor", device) * parts.actor,
        count("rollout", device) * parts.rollout,
        count("env", device) * parts.env,
      ];
      const shared = sharesWeights(config, placement, device) ? parts.weights : 0;
      const collecting = env + rollout + (actor - shared) * resident(config.actor.enable_offload);
      const training =
        actor +
        (rollout - shared) * resident(config.rollout.enable_offload) +
        env * resident(config.env.train.enable_offload);
      return { device, collecting, training, peak: Math.max(collecting, training) };
    });
}

/** Whether a rollout worker on the device acts with the first actor's own weights. */
export function sharesWeights(config: RunConfig, placement: Placement, device: number): boolean {
  const first = placement.get("actor")?.[0]?.devices[0];
  const beside = (placement.get("rollout") ?? []).some(({ devices }) => devices[0] === device);
  return first === device && beside && config.runner.weight_sync_interval === 1;
}

export interface DiskPlan {
  readonly checkpointBytes: number;
  readonly checkpoints: number; // kept at the end of the run
  readonly totalBytes: number;
}

export function diskPlan(config: RunConfig, batch: BatchPlan, policy: Footprint | undefined): DiskPlan {
  const parameters = policy?.parameters ?? 0;
  const trainable = policy?.trainableParameters ?? parameters;
  const weight = bytesPerWeight(config.actor.model.precision);
  const checkpointBytes = parameters * weight + trainable * (momentBytes + (weight < 4 ? masterBytes : 0));
  const { save_interval: every, keep_checkpoints: keep } = config.runner;
  const written = every > 0 ? Math.ceil(batch.trainingSteps / every) : 0;
  const checkpoints = keep > 0 ? Math.min(written, keep) : written;
  return { checkpointBytes, checkpoints, totalBytes: checkpointBytes * checkpoints };
}
