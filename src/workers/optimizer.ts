/**
 * The optimizer of a policy: one group for the policy, one for its critic, each with its own learning rate.
 *
 * While the critic warms up only its group moves; the policy's moments are left as they are, so that nothing of the warm-up lingers.
 * `actor.fsdp_config.sharding_strategy` says what ranks spread among them: nothing (no_shard), gradients and the optimizer's state
 * (shard_grad_op), or the weights too (full_shard).
 */
import type { Ranks } from "#algorithms";
import { type RunConfig, shardingOf } from "#config";
import {
  type GradientStep,
  gradientsOf,
  type WeightGroup,
  type WeightUpdate,
  WholeUpdate,
} from "#optimization";
import type { Policy } from "#policies";
import { UserError } from "#registry";
import type { ProcessGroup, Tensor } from "#tensor";
import { sumGradients } from "./gradient-group.ts";
import { LayerShards } from "./layer-shards.ts";
import { ShardedUpdate } from "./sharded-update.ts";

const isCritic = (name: string): boolean => name.includes("value_head");
const [policyGroup, criticGroup] = [0, 1];

function openShards({ module, parts }: Policy, group: ProcessGroup): LayerShards {
  const weights = module.namedParameters();
  const groupOf = (name: string): number | undefined =>
    weights.get(name)?.requiresGrad ? (isCritic(name) ? criticGroup : policyGroup) : undefined;
  return new LayerShards({ parts, weights, groupOf, group });
}

/** The other ranks, where there are any. */
export interface Company {
  readonly group: ProcessGroup;
  readonly ranks: Ranks;
}

export class PolicyOptimizer {
  /** What is trained, by name. */
  readonly weights: ReadonlyMap<string, Tensor>;
  readonly #settings: RunConfig["actor"]["optim"];
  readonly #update: WeightUpdate;
  readonly #company: Company | undefined;
  readonly #sharded: boolean;
  /** Where weights are sharded too, who brings them. */
  readonly layers: LayerShards | undefined;
  /** Optimizer steps taken so far, in all. */
  steps = 0;

  constructor(policy: Policy, actor: RunConfig["actor"], company: Company | undefined) {
    const trained = [...policy.module.namedParameters()].filter(([, weight]) => weight.requiresGrad);
    if (trained.length === 0)
      throw new UserError("no weight of this policy is to be trained: all are frozen");
    this.#settings = actor.optim;
    this.weights = new Map(trained);
    this.#company = company;
    const sharding = shardingOf({ actor }, company?.group.worldSize ?? 1);
    this.#sharded = sharding !== "none";
    this.layers = company && sharding === "weights" ? openShards(policy, company.group) : undefined;
    this.#update = this.#open(trained);
  }

  #open(trained: readonly (readonly [string, Tensor])[]): WeightUpdate {
    const settings = this.#settings;
    const critic = trained.filter(([name]) => isCritic(name));
    const groups: WeightGroup[] = [
      { weights: new Map(trained.filter(([name]) => !isCritic(name))), lr: settings.lr },
      ...(critic.length > 0 ? [{ weights: new Map(critic), lr: settings.value_lr ?? settings.lr }] : []),
    ];
    const options = {
      betas: [settings.adam_beta1, settings.adam_beta2] as const,
      eps: settings.adam_eps,
      weightDecay: settings.weight_decay,
    };
    if (this.#company && this.#sharded)
      return new ShardedUpdate(groups, options, { ...this.#company, layers: this.layers });
    return new WholeUpdate(groups, { ...options, masters: settings.master_weights });
  }

  get warmsUp(): boolean {
    return this.steps < this.#settings.critic_warmup_steps && this.#update.groups.length > 1;
  }

  /** Sets the rates for a training step: the schedule's factor of each group's own. */
  setRates(factor: number): void {
    const [policy, critic] = this.#update.groups;
    policy!.lr = this.#settings.lr * factor;
    if (critic) critic.lr = (this.#settings.value_lr ?? this.#settings.lr) * factor;
  }

  get rates(): { readonly actor: number; readonly critic: number | undefined } {
    const [policy, critic] = this.#update.groups;
    return { actor: this.warmsUp ? 0 : policy!.lr, critic: critic?.lr };
  }

  /** One update with the weights' gradients, summed over all ranks; afterwards there are none. */
  async step(): Promise<GradientStep> {
    const gradients = this.#gradients();
    if (this.#company && !this.#sharded) await sumGradients([...gradients.values()], this.#company.group);
    const resting = this.warmsUp ? new Set([policyGroup]) : undefined;
    const taken = await this.#update.apply(gradients, this.#settings.clip_grad, resting);
    for (const gradient of gradients.values()) gradient.dispose();
    for (const weight of this.weights.values()) weight.grad = null;
    this.steps++;
    return taken;
  }

  /** Of the weights that take part now; those that no loss reached are absent. */
  #gradients(): Map<string, Tensor> {
    const moving = [...this.weights].filter(([name]) => !this.warmsUp || isCritic(name));
    return gradientsOf(new Map(moving));
  }

  /** By parameter name, the same for any number of ranks; lent for the call only. All ranks must ask together. */
  lendState(use: (state: ReadonlyMap<string, Tensor>) => void): Promise<void> {
    return this.#update.lendState(use);
  }

  loadState(state: ReadonlyMap<string, Tensor>, steps: number): void {
    this.#update.loadState(state);
    this.steps = steps;
  }

  /** Moments and masters: what may leave an accelerator between updates. */
  tensors(): Tensor[] {
    return this.#update.tensors();
  }

  /** The network's weights were changed from outside. */
  rereadWeights(): void {
    this.#update.rereadWeights();
  }

  dispose(): void {
    this.#update.dispose();
  }
}
