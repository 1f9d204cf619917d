/** From a checked configuration to the workers of a run, each on its devices. */
import { randomUUID } from "node:crypto";
import { processLauncher, threadLauncher } from "#cluster";
import { type BatchPlan, type CheckedConfig, type EnvironmentConfig, planBatch, stageSlots } from "#config";
import type { ActionSpec } from "#data";
import { environmentFamily, type OpenedEnv } from "#envs";
import type { Policy } from "#policies";
import { UserError, type WorkerRef } from "#registry";
import type { ChunkWatcher } from "#simulators";
import type { Device } from "#tensor";
import {
  type ActorOptions,
  type ActorWorker,
  actorModule,
  copyShelter,
  type Decider,
  openActor,
  openPolicy,
  type RemoteActor,
  RemoteRollout,
  RolloutWorker,
  type Shelter,
} from "#workers";

/** The device of one process of a component: its first accelerator, or the CPU where there is none or it is simulated. */
export function deviceOf({ shape, placement }: CheckedConfig, component: string, rank: number): Device {
  const [first] = placement.get(component)?.[rank]?.devices ?? [];
  return first === undefined || shape.simulated ? "cpu" : `cuda:${first}`;
}

/** What a configuration may plan and this checkout cannot start. */
export function requireLocal({ config, shape }: CheckedConfig): void {
  const { launcher, num_nodes: nodes } = config.cluster;
  if (launcher !== "local")
    throw new UserError(
      `cluster.launcher is ${launcher}: runs for it are validated (--dry-run), but only "local" can run yet`,
    );
  if (nodes > 1 && !shape.simulated)
    throw new UserError(
      `cluster.num_nodes is ${nodes}: runs on several machines are validated (--dry-run) but cannot run yet; set it to 1`,
    );
}

export interface ActorRanks {
  readonly first: ActorWorker; // lives here
  readonly others: readonly WorkerRef<RemoteActor>[]; // each in a thread of its own
}

export async function startActors(
  checked: CheckedConfig,
  modelChanges: Readonly<Record<string, unknown>> | undefined,
): Promise<ActorRanks> {
  const { config, ranks } = checked;
  const batch = planBatch(config, ranks);
  const actionSpec = await actionsOf(config.env.train);
  const shared = sharedDevice(checked);
  const meeting = ranks.actor > 1 ? randomUUID() : undefined;
  const options = (rank: number): ActorOptions => ({
    config,
    rank,
    worldSize: ranks.actor,
    device: deviceOf(checked, "actor", rank),
    actionSpec,
    runSteps: batch.trainingSteps,
    decisions: batch.decisions,
    sharesWeights: rank === 0 && shared !== undefined,
    meeting,
    modelChanges,
  });
  const others = Array.from({ length: ranks.actor - 1 }, (_, i) => i + 1).map((rank) =>
    threadLauncher.start<RemoteActor>({
      name: `actor ${rank}`,
      module: actorModule,
      factory: "openRemoteActor",
      options: options(rank),
    }),
  );
  const [first] = await Promise.all([openActor(options(0)), ...others.map(({ ready }) => ready)]);
  return { first, others };
}

/** A policy that rollout workers of one device act with. */
interface Copy {
  readonly policy: Policy;
  readonly shelter?: Shelter;
}

/** Where a rollout worker acts with the first actor's own weights: on its device, unless it may lag behind them. */
function sharedDevice(checked: CheckedConfig): Device | undefined {
  const { config, ranks } = checked;
  const device = deviceOf(checked, "actor", 0);
  const rollouts = Array.from({ length: ranks.rollout }, (_, rank) => rank);
  const meets = rollouts.some((rank) => deviceOf(checked, "rollout", rank) === device);
  return meets && config.runner.weight_sync_interval === 1 ? device : undefined;
}

/**
 * A rollout worker on the actor's device acts with the actor's own weights, unless it may lag behind them. Others hold a copy: on the CPU
 * all share one, each accelerator has one in a thread of its own.
 */
export async function startRollouts(
  checked: CheckedConfig,
  actor: ActorWorker | undefined,
): Promise<Decider[]> {
  const { config, ranks } = checked;
  const actionSpec = await actionsOf(actor ? config.env.train : (config.env.eval ?? config.env.train));
  const shared = actor && sharedDevice(checked);
  const here = new Map<Device, Copy>(actor && shared ? [[shared, { policy: actor.policy }]] : []);
  const sections = playedSections(checked, actor !== undefined);
  if (actor) await requireReadable(actor.policy, sections);
  const openCopy = async (device: Device): Promise<Copy> => {
    const policy = await openPolicy({ config, actionSpec }, { device });
    if (!actor) await requireReadable(policy, sections);
    const leaves = config.rollout.enable_offload && device !== "cpu";
    return leaves ? { policy, shelter: copyShelter(policy) } : { policy };
  };
  const start = async (rank: number): Promise<Decider> => {
    const device = deviceOf(checked, "rollout", rank);
    const isHere = device === "cpu" || here.has(device) || ranks.rollout === 1;
    if (!isHere) return RemoteRollout.start({ config, rank, device, actionSpec });
    const copy = here.get(device) ?? (await openCopy(device));
    here.set(device, copy);
    return new RolloutWorker(copy.policy, copy.shelter);
  };
  const workers: Decider[] = [];
  for (let rank = 0; rank < ranks.rollout; rank++) workers.push(await start(rank));
  return workers;
}

export interface Stage {
  readonly opened: OpenedEnv;
  readonly firstSlot: number;
  readonly envRank: number;
  readonly device: Device;
}

export interface StageWishes {
  readonly section: EnvironmentConfig;
  readonly slots: number;
  readonly seedOffset: number;
  readonly say: (line: string) => void;
  readonly watch?: ((firstSlot: number) => ChunkWatcher | undefined) | undefined;
}

/** One env per env worker and pipeline stage, in the order of their slots. */
export async function openStages(checked: CheckedConfig, wishes: StageWishes): Promise<Stage[]> {
  const { section, slots, seedOffset, say, watch } = wishes;
  const { ranks, config } = checked;
  const family = await environmentFamily(section);
  const count = config.rollout.pipeline_stage_num;
  const stages: Stage[] = [];
  for (let stage = 0; stage < count; stage++) {
    const block = stageSlots(slots, stage, count);
    const size = block.length / ranks.env;
    for (let envRank = 0; envRank < ranks.env; envRank++) {
      const firstSlot = block.start + envRank * size;
      const device = deviceOf(checked, "env", envRank);
      const opened = await family.open(section, {
        size,
        firstSlot,
        slots,
        seedOffset,
        device,
        say,
        launcher: processLauncher,
        watcher: watch?.(firstSlot),
      });
      stages.push({ opened, firstSlot, envRank, device });
    }
  }
  return stages;
}

/** The env sections that a run plays: an evaluation its own, training also env.eval where it evaluates along the way. */
function playedSections({ config }: CheckedConfig, trains: boolean): EnvironmentConfig[] {
  const { train, eval: evaluation = train } = config.env;
  if (!trains) return [evaluation];
  return config.runner.val_check_interval > 0 ? [train, evaluation] : [train];
}

/** The policy must be able to read every task that it will be told, before an env is started. */
async function requireReadable(policy: Policy, sections: readonly EnvironmentConfig[]): Promise<void> {
  for (const section of sections) {
    const family = await environmentFamily(section);
    policy.requireReadable((await family.sentences?.(section)) ?? []);
  }
}

/** What the environment of a section means by an action. */
const actionsOf = async (section: EnvironmentConfig): Promise<ActionSpec> =>
  (await environmentFamily(section)).actions(section);

/** Policy and env must mean the same by an action before the first one is played. */
export function checkActions(policy: Policy, stages: readonly Stage[]): void {
  const size = stages[0]?.opened.env.actionSize;
  if (size === undefined || size === policy.actionSize) return;
  throw new UserError(
    `the policy's actions have ${policy.actionSize} numbers and the environment's ${size}: set actor.model.action_dim to ${size} ` +
      "and use a checkpoint that was trained for it",
  );
}

export const batchOf = ({ config, ranks }: CheckedConfig): BatchPlan => planBatch(config, ranks);
