/**
 * Collects the decisions of one rollout epoch and what they led to, then stacks them into a Rollout.
 *
 * Call `decided` and `answered` in turn, T times, then `finish`. The recorder keeps the tensors it is given
 * (they leave their scope) and frees them when it has stacked them.
 */
import { full, keep, scope, stack, type Tensor, zeros } from "#tensor";
import type { EnvStep } from "./env-step.ts";
import type { PolicyStep } from "./policy-step.ts";
import type { Rollout } from "./rollout.ts";

export class RolloutRecorder {
  readonly #decisions: PolicyStep[] = [];
  readonly #versions: number[] = [];
  readonly #answers: Pick<EnvStep, "rewards" | "terminated" | "truncated">[] = [];

  /** A decision of the policy, and the version of the weights that made it. */
  decided(step: PolicyStep, version: number): void {
    if (this.#decisions.length !== this.#answers.length) throw new Error("internal: two decisions in a row");
    keepStep(step);
    this.#decisions.push(step);
    this.#versions.push(version);
  }

  /** What the environment answered; `rewards` may already hold a bootstrapped part or a reward model's. */
  answered(step: Pick<EnvStep, "rewards" | "terminated" | "truncated">): void {
    if (this.#answers.length + 1 !== this.#decisions.length)
      throw new Error("internal: an answer without a decision");
    this.#answers.push({
      rewards: keep(step.rewards),
      terminated: keep(step.terminated),
      truncated: keep(step.truncated),
    });
  }

  /** Stacks all rows; `lastValues` [B, V] values the observation after the last decision. */
  finish(lastValues?: Tensor): Rollout {
    const rollout = scope(() => this.#stack(lastValues));
    this.#clear();
    return rollout;
  }

  #stack(lastValues: Tensor | undefined): Rollout {
    const [first] = this.#decisions;
    if (!first || this.#answers.length !== this.#decisions.length) {
      throw new Error("internal: a rollout needs as many answers as decisions, and at least one");
    }
    const [slots = 0, actions = 0] = first.actions.shape;
    const never = zeros([slots, actions], { dtype: "bool" });
    const flags = (field: "terminated" | "truncated"): Tensor =>
      stack([never, ...this.#answers.map((answer) => answer[field])], 0);
    const terminated = flags("terminated");
    const truncated = flags("truncated");
    const values = this.#decisions.flatMap((decision) => decision.values ?? []);
    if (values.length > 0 && !lastValues)
      throw new Error("internal: the value after the last decision is missing");
    return {
      logProbs: stack(this.#decisions.map((decision) => decision.logProbs)),
      rewards: stack(this.#answers.map((answer) => answer.rewards)),
      dones: terminated.logicalOr(truncated),
      terminated,
      truncated,
      ...(values.length > 0 && lastValues && { values: stack([...values, lastValues]) }),
      versions: stack(this.#versions.map((version) => full([slots], version, { dtype: "int64" }))),
      forwardInputs: this.#stackInputs(Object.keys(first.forwardInputs)),
    };
  }

  #stackInputs(names: readonly string[]): Record<string, Tensor> {
    const rows = (name: string) =>
      this.#decisions.map((decision) => {
        const tensor = decision.forwardInputs[name];
        if (!tensor) throw new Error(`internal: a decision lacks the forward input ${name}`);
        return tensor;
      });
    return Object.fromEntries(names.map((name) => [name, stack(rows(name))]));
  }

  #clear(): void {
    for (const step of this.#decisions) {
      for (const tensor of tensorsOf(step)) tensor.dispose();
    }
    for (const answer of this.#answers) {
      for (const tensor of Object.values(answer)) tensor.dispose();
    }
    this.#decisions.length = this.#answers.length = this.#versions.length = 0;
  }
}

function tensorsOf(step: PolicyStep): Tensor[] {
  const { actions, logProbs, values, forwardInputs } = step;
  return [actions, logProbs, ...(values ? [values] : []), ...Object.values(forwardInputs)];
}

function keepStep(step: PolicyStep): void {
  for (const tensor of tensorsOf(step)) keep(tensor);
}
