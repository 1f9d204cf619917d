/**
 * The optimiser of a policy: one group for the policy, one for its critic, each with its own learning rate.
 *
 * While the critic warms up only its group moves; the policy's moments are left as they are, so that nothing of the warm-up lingers.
 */
import type { RunConfig } from "#config";
import type { Policy } from "#policies";
import { UserError } from "#registry";
import { AdamW, clipGradNorm, type ParameterGroup, scope, type Tensor } from "#tensor";

export type GradientStep = { readonly norm: number; readonly taken: boolean };

const isCritic = (name: string): boolean => name.includes("value_head");

export class PolicyOptimizer {
  readonly #adam: AdamW;
  readonly #settings: RunConfig["actor"]["optim"];
  readonly #weights: ReadonlyMap<string, Tensor>;
  /** Optimiser steps taken so far, in all. */
  steps = 0;

  constructor(policy: Policy, settings: RunConfig["actor"]["optim"]) {
    const trained = [...policy.module.namedParameters()].filter(([, weight]) => weight.requiresGrad);
    if (trained.length === 0)
      throw new UserError("no weight of this policy is to be trained: all are frozen");
    this.#settings = settings;
    this.#weights = new Map(trained);
    const critic = trained.filter(([name]) => isCritic(name));
    const groups: ParameterGroup[] = [
      { parameters: new Map(trained.filter(([name]) => !isCritic(name))), lr: settings.lr },
      ...(critic.length > 0 ? [{ parameters: new Map(critic), lr: settings.value_lr ?? settings.lr }] : []),
    ];
    this.#adam = new AdamW(groups, {
      betas: [settings.adam_beta1, settings.adam_beta2],
      eps: settings.adam_eps,
      weightDecay: settings.weight_decay,
    });
  }

  /** What is trained, by name. */
  get weights(): ReadonlyMap<string, Tensor> {
    return this.#weights;
  }

  get warmsUp(): boolean {
    return this.steps < this.#settings.critic_warmup_steps && this.#adam.groups.length > 1;
  }

  /** Sets the rates for a training step: the schedule's factor of each group's own. */
  setRates(factor: number): void {
    const [policy, critic] = this.#adam.groups as [ParameterGroup, ParameterGroup | undefined];
    policy.lr = this.#settings.lr * factor;
    if (critic) critic.lr = (this.#settings.value_lr ?? this.#settings.lr) * factor;
  }

  get rates(): { readonly actor: number; readonly critic: number | undefined } {
    const [policy, critic] = this.#adam.groups as [ParameterGroup, ParameterGroup | undefined];
    return { actor: this.warmsUp ? 0 : policy.lr, critic: critic?.lr };
  }

  /** Gradients of the weights that take part now; those that no loss reached are absent. */
  gradients(): Map<string, Tensor> {
    const found = new Map<string, Tensor>();
    for (const [name, weight] of this.#weights) {
      if (this.warmsUp && !isCritic(name)) continue;
      const gradient = weight.grad;
      if (gradient) found.set(name, gradient);
    }
    return found;
  }

  /** Clips and updates. A norm that is not finite takes no step: one bad batch must not ruin the weights. */
  step(gradients: ReadonlyMap<string, Tensor>): GradientStep {
    const norm = scope(() => Number(clipGradNorm([...gradients.values()], this.#settings.clip_grad).item()));
    const taken = Number.isFinite(norm);
    if (taken) this.#adam.step(gradients);
    this.forget(gradients);
    this.steps++;
    return { norm, taken };
  }

  forget(gradients: ReadonlyMap<string, Tensor>): void {
    for (const gradient of gradients.values()) gradient.dispose();
    this.#adam.zeroGrad();
  }

  state(): Map<string, Tensor> {
    return this.#adam.state();
  }

  loadState(state: ReadonlyMap<string, Tensor>, steps: number): void {
    this.#adam.loadState(state);
    this.steps = steps;
  }

  dispose(): void {
    this.#adam.dispose();
  }
}
