/** Makes an actor rank from plain options: here, or in a thread of its own. */

import { algorithms } from "#algorithms";
import type { RunConfig } from "#config";
import { type ActionSpec, disposeMinibatch, type Minibatch } from "#data";
import { type LoadOptions, loadPolicy, type Policy } from "#policies";
import { RandomStream } from "#random";
import { type Device, ProcessGroup, type Tensor, useDevice } from "#tensor";
import type { Bytes } from "./actor-memory.ts";
import { ActorWorker, type Learned } from "./actor-worker.ts";
import { ranksOf } from "./gradient-group.ts";

export interface ActorOptions {
  readonly config: RunConfig;
  readonly rank: number;
  readonly worldSize: number;
  readonly device: Device;
  readonly actionSpec: ActionSpec;
  readonly runSteps: number;
  readonly decisions: number;
  /** A rollout worker acts with this rank's own weights. */
  readonly sharesWeights: boolean;
  /** The name under which the ranks of this run meet; absent with one rank. */
  readonly meeting?: string | undefined;
  /** Changes to the model section: a resumed run begins from its checkpoint. */
  readonly modelChanges?: Readonly<Record<string, unknown>> | undefined;
}

/** The policy of a run, on a device. Weights that the checkpoint lacks are drawn from the run's seed. */
export function openPolicy(
  { config, actionSpec, modelChanges }: Pick<ActorOptions, "config" | "actionSpec" | "modelChanges">,
  options: LoadOptions,
): Promise<Policy> {
  const seed = RandomStream.ofRun(config.runner.seed).branch("initialisation").smallSeed(); // the name decides the numbers
  const cudaGraphs = config.rollout.enable_cuda_graph && (options.device ?? "cpu").startsWith("cuda");
  return loadPolicy({ ...config.actor.model, ...modelChanges }, { actionSpec, seed, cudaGraphs, ...options });
}

export async function openActor(options: ActorOptions): Promise<ActorWorker> {
  const { config, rank, worldSize, device, meeting } = options;
  if (device.startsWith("cuda:")) useDevice(Number(device.slice("cuda:".length))); // where NCCL looks
  const policy = await openPolicy(options, { device });
  const algorithm = (await algorithms.get(config.algorithm.adv_type)).open(config.algorithm);
  const reference =
    algorithm.settings.kl_beta > 0
      ? await openPolicy({ ...options, modelChanges: undefined }, { device })
      : undefined;
  reference?.module.requiresGrad_(false);
  const join = (backend: "gloo" | "nccl") =>
    ProcessGroup.join({ backend, meet: { name: `${meeting} ${backend}` }, rank, worldSize });
  const numbers = meeting === undefined ? undefined : await join("gloo");
  const group = numbers && device.startsWith("cuda") ? await join("nccl") : numbers;
  return new ActorWorker({
    policy,
    algorithm,
    reference,
    config,
    rank,
    worldSize,
    ...(numbers && { company: { group: group ?? numbers, ranks: ranksOf(numbers) } }),
    runSteps: options.runSteps,
    decisions: options.decisions,
    ...(config.actor.enable_offload &&
      device !== "cpu" && { leaves: options.sharesWeights ? "optimizer" : "everything" }),
    shuffle: RandomStream.ofRun(config.runner.seed).branch("shuffle"),
  });
}

/** What a rank in another thread answers to. */
export interface RemoteActor {
  learn(part: { readonly samples: Minibatch; readonly step: number }): Promise<Learned>;
  restore(saved: { readonly state: ReadonlyMap<string, Tensor>; readonly steps: number }): Promise<void>;
  loadWeights(weights: ReadonlyMap<string, Tensor>): Promise<void>;
  /** Takes part when the optimizer's state is gathered. */
  shareState(): Promise<void>;
  rest(): Promise<void>;
  /** Takes part when sharded weights are gathered for the first rank. */
  lendWeights(): Promise<void>;
  weightBytes(): Promise<Bytes>;
}

/** For threads: the tensors that arrive are freed after use. */
export async function openRemoteActor(options: ActorOptions): Promise<RemoteActor> {
  const actor = await openActor(options);
  const free = (tensors: Iterable<Tensor>): void => {
    for (const tensor of tensors) tensor.dispose();
  };
  return {
    async learn({ samples, step }) {
      const learned = await actor.learn(samples, step);
      disposeMinibatch(samples);
      return learned;
    },
    async restore({ state, steps }) {
      actor.optimizer.loadState(state, steps);
      free(state.values());
    },
    async shareState() {
      await actor.lendState(() => {});
    },
    async rest() {
      actor.memory.rest();
    },
    lendWeights: () => actor.memory.makeWhole(false),
    weightBytes: async () => actor.memory.weightBytes,
    async loadWeights(weights) {
      actor.policy.module.loadState(weights, { strict: false });
      actor.optimizer.rereadWeights();
      free(weights.values());
    },
  };
}
