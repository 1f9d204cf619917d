/**
 * Chains of denoising: drawn when the policy acts, judged again when it learns, by the same operations.
 *
 * A chain is N + 1 stages from pure noise to actions. In the usual mode one step of each row is noisy, and its
 * density is the row's probability; in joint mode all are. Step −1 means that none is: the plain ODE.
 *
 * We depart in the critic that reads the expert: the reference reports its mean over all N steps when it acts and
 * its value at the noisy step when it learns. We report the latter in both, so that PPO compares like with like;
 * `ofAllSteps` has the former.
 *
 * Shapes: B batch, N steps, H actions of the horizon, A numbers in a model action, D width of what the critic reads.
 */
import { full, stack, type Tensor, where } from "#tensor";
import {
  type FlowOptions,
  flowTimes,
  type Gaussian,
  gaussianEntropy,
  logDensity,
  type StepChoice,
  timeOf,
  transition,
} from "./flow.ts";
import type { Pi0Model } from "./model.ts";
import type { Memory } from "./towers.ts";

export interface CriticOptions {
  /** The critic's error does not reach the expert. */
  readonly detach: boolean;
  /** Reads so many actions of the horizon; all when undefined. */
  readonly actions: number | undefined;
  /** Which of PaliGemma's tokens a critic of the language model reads. */
  readonly tokens: "mean_token" | "last_token" | "first_token";
  readonly cameras: number;
}

/** All that stays the same along a chain. */
export interface Scene {
  readonly memory: Memory;
  readonly state_BA: Tensor; // float32, normalised and padded
}

interface StepAnswer {
  readonly next: Gaussian;
  /** Of a critic that reads the expert, [B, 1]. */
  readonly value_B1: Tensor | undefined;
}

export interface Judgement {
  readonly logProbs_BHA: Tensor;
  readonly entropy_BHA: Tensor;
  readonly values_B1: Tensor | undefined;
}

export interface Chain {
  readonly stages_BNHA: Tensor; // N + 1 of them
  readonly logProbs_BHA: Tensor;
  readonly values_B1: Tensor | undefined;
  /** The critic's mean over all steps, as the reference reports it. */
  readonly ofAllSteps_B1: Tensor | undefined;
}

export class Denoiser {
  readonly #model: Pi0Model;
  readonly #flow: FlowOptions;
  readonly #critic: CriticOptions;

  constructor(model: Pi0Model, flow: FlowOptions, critic: CriticOptions) {
    this.#model = model;
    this.#flow = flow;
    this.#critic = critic;
  }

  /** `noise` holds the first stage and a draw for each step; `steps_BN` names the noisy steps (see `judge`). */
  draw(scene: Scene, noise: readonly Tensor[], steps_BN: Tensor): Chain {
    const N = noise.length - 1;
    const times = flowTimes(N, steps_BN.device);
    const stages = [noise[0]!];
    const logProbs = [this.#first(noise[0]!)];
    const values: Tensor[] = [];
    for (let i = 0; i < N; i++) {
      const here_B = steps_BN.select(1, i).mul(0).add(i);
      const choice = { step_B: here_B, noisy_B: steps_BN.select(1, i).eq(here_B) };
      const { next, value_B1 } = this.#step(scene, stages[i]!, times, choice);
      const stage = next.mean.add(noise[i + 1]!.mul(next.deviation));
      stages.push(stage);
      logProbs.push(logDensity(stage, next, this.#flow.safe));
      if (value_B1) values.push(value_B1);
    }
    const ofVlm = this.#ofVlm(scene.memory);
    return {
      stages_BNHA: stack(stages, 1),
      logProbs_BHA: this.#combine(logProbs, steps_BN),
      values_B1: ofVlm ?? (values.length > 0 ? this.#combineValues(values, steps_BN) : undefined),
      ofAllSteps_B1: ofVlm ?? (values.length > 0 ? stack(values, 1).mean(1) : undefined),
    };
  }

  /**
   * The recorded chain once more. `steps_BN` names the noisy step N times over, or each step once in joint mode,
   * or is −1: then the first step is looked at, and certain.
   */
  judge(scene: Scene, stages_BNHA: Tensor, steps_BN: Tensor): Judgement {
    const { joint, method } = this.#flow;
    const N = stages_BNHA.size(1) - 1;
    const times = flowTimes(N, stages_BNHA.device);
    const first = stages_BNHA.select(1, 0);
    const logProbs = joint ? [this.#first(first)] : [];
    const entropies = joint ? [gaussianEntropy(first.mul(0))] : [];
    const values: Tensor[] = [];
    for (let i = 0; i < (joint ? N : 1); i++) {
      const named_B = steps_BN.select(1, i);
      const noisy_B = named_B.ge(0);
      const step_B = where(noisy_B, named_B, named_B.mul(0).add(i));
      const { next, value_B1 } = this.#step(scene, stageAt(stages_BNHA, step_B), times, { step_B, noisy_B });
      logProbs.push(logDensity(stageAt(stages_BNHA, step_B.add(1)), next, this.#flow.safe));
      entropies.push(gaussianEntropy(next.deviation).expandAs(next.mean));
      if (value_B1) values.push(value_B1);
    }
    const logProbs_BHA = joint ? stack(logProbs, 1).mean(1) : logProbs[0]!;
    const known = method === "flow_noise"; // the other methods' deviation is a constant, and counts as nothing
    return {
      logProbs_BHA,
      entropy_BHA: known ? stack(entropies, 1).mean(1) : logProbs_BHA.detach().mul(0),
      values_B1: this.#ofVlm(scene.memory) ?? (values.length > 0 ? stack(values, 1).mean(1) : undefined),
    };
  }

  /** (noise − actions − velocity)², of each number: what demonstrations teach. */
  matchingLoss(scene: Scene, actions_BHA: Tensor, noise_BHA: Tensor, time_B: Tensor): Tensor {
    const t = time_B.unsqueeze(1).unsqueeze(2);
    const x_BHA = noise_BHA.mul(t).add(actions_BHA.mul(t.neg().add(1)));
    const answers_BHD = this.#model.think(scene.memory, scene.state_BA, x_BHA, time_B);
    return noise_BHA.sub(actions_BHA).sub(this.#model.velocity(answers_BHD)).square();
  }

  #step({ memory, state_BA }: Scene, x_BHA: Tensor, times: Tensor, choice: StepChoice): StepAnswer {
    const answers_BHD = this.#model.think(memory, state_BA, x_BHA, timeOf(times, choice));
    const velocity_BHA = this.#model.velocity(answers_BHD);
    const learned = this.#model.noise_head?.forward(answers_BHD);
    return {
      next: transition(x_BHA, velocity_BHA, times, choice, this.#flow, learned),
      value_B1: memory.output_BPD ? undefined : this.#ofExpert(answers_BHD),
    };
  }

  /** How likely the first draw was, as one term of a joint chain. */
  #first(noise_BHA: Tensor): Tensor {
    const mean = noise_BHA.mul(0);
    return logDensity(noise_BHA, { mean, deviation: mean.add(1) }, this.#flow.safe);
  }

  /** One term per stage to one per chain: the mean of all, or the term of the noisy step. */
  #combine(terms: readonly Tensor[], steps_BN: Tensor): Tensor {
    if (this.#flow.joint) return stack(terms, 1).mean(1);
    return stageAt(stack(terms.slice(1), 1), steps_BN.select(1, 0).clamp(0));
  }

  #combineValues(values: readonly Tensor[], steps_BN: Tensor): Tensor {
    const values_BN1 = stack(values, 1);
    if (this.#flow.joint) return values_BN1.mean(1);
    return stageAt(values_BN1, steps_BN.select(1, 0).clamp(0));
  }

  #ofExpert(answers_BHD: Tensor): Tensor | undefined {
    const { detach, actions } = this.#critic;
    const read_BHD = actions === undefined ? answers_BHD : answers_BHD.narrow(1, 0, actions);
    const mean_BD = read_BHD.mean(1);
    return this.#model.value_head?.forward(detach ? mean_BD.detach() : mean_BD);
  }

  #ofVlm({ output_BPD }: Memory): Tensor | undefined {
    if (!output_BPD) return undefined;
    return this.#model.value_head?.forward(this.#readTokens(output_BPD).float());
  }

  /** The mean of seen pictures and the whole prompt, padding included as in the reference; or one token. */
  #readTokens(output_BPD: Tensor): Tensor {
    const { tokens, cameras } = this.#critic;
    const P = output_BPD.size(1);
    if (tokens === "first_token") return output_BPD.select(1, 0);
    if (tokens === "last_token") return output_BPD.select(1, P - 1);
    const { image_size, patch_size } = this.#model.config.sizes.vision;
    const seen = cameras * (image_size / patch_size) ** 2;
    const words = this.#model.config.max_token_len;
    const sum_BD = output_BPD
      .narrow(1, 0, seen)
      .sum(1)
      .add(output_BPD.narrow(1, P - words, words).sum(1));
    return sum_BD.div(seen + words);
  }
}

/** One stage of each row: [B, N, …] and indices [B] to [B, …]. */
function stageAt(stages: Tensor, index_B: Tensor): Tensor {
  const [B = 0, , ...rest] = stages.shape;
  const index = index_B.view([B, 1, ...rest.map(() => 1)]).expand([B, 1, ...rest]);
  return stages.gather(1, index).squeeze(1);
}

/** No step is noisy: int64 [B, N] of −1. */
export const certainSteps = (rows: number, steps: number): Tensor =>
  full([rows, steps], -1, { dtype: "int64" });
