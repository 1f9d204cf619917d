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
import type { Pi0Heads, Pi0Model } from "./model.ts";
import type { Memory } from "./towers.ts";

export interface CriticOptions {
  readonly reads: Pi0Heads["critic"];
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
  readonly state_BA: Tensor; // float32, normalized and padded
}

/** One question to the expert about a recorded chain: x at a time, and what came of it. */
export interface Pass {
  readonly x_BHA: Tensor;
  readonly time_B: Tensor;
  readonly next_BHA: Tensor;
  readonly choice: StepChoice;
  readonly times: Tensor;
}

export interface Judgment {
  readonly logProbs_BHA: Tensor;
  /** Absent where the noise is not learned: its deviation is a constant, which says nothing of the policy. */
  readonly entropy_BHA: Tensor | undefined;
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
  draw({ memory, state_BA }: Scene, noise: readonly Tensor[], steps_BN: Tensor): Chain {
    const { joint } = this.#flow;
    const N = noise.length - 1;
    const times = flowTimes(N, steps_BN.device);
    const stages = [noise[0]!];
    const logProbs = [this.#first(noise[0]!)];
    const values: Tensor[] = [];
    for (let i = 0; i < N; i++) {
      const here_B = steps_BN.select(1, i).mul(0).add(i);
      const choice = { step_B: here_B, noisy_B: steps_BN.select(1, i).eq(here_B) };
      const answers_BHD = this.#model.think(memory, state_BA, stages[i]!, timeOf(times, choice));
      const next = this.#next(stages[i]!, answers_BHD, times, choice);
      const stage = next.mean.add(noise[i + 1]!.mul(next.deviation));
      stages.push(stage);
      logProbs.push(logDensity(stage, next, this.#flow.safe));
      values.push(...this.#ofExpert(answers_BHD));
    }
    const ofVlm = this.#ofVlm(memory.output_BPD);
    const ofExpert = values.length > 0 ? stack(values, 1) : undefined;
    return {
      stages_BNHA: stack(stages, 1),
      logProbs_BHA: this.#choose(stack(logProbs.slice(joint ? 0 : 1), 1), steps_BN),
      values_B1: ofVlm ?? (ofExpert && this.#choose(ofExpert, steps_BN)),
      ofAllSteps_B1: ofVlm ?? ofExpert?.mean(1),
    };
  }

  /** The recorded chain once more. */
  judge(scene: Scene, stages_BNHA: Tensor, steps_BN: Tensor): Judgment {
    const passes = this.passes(stages_BNHA, steps_BN);
    const answers = passes.map(({ x_BHA, time_B }) =>
      this.#model.think(scene.memory, scene.state_BA, x_BHA, time_B),
    );
    return this.conclude(passes, answers, scene.memory.output_BPD);
  }

  /**
   * What the expert must be asked to judge a chain. `steps_BN` names the noisy step N times over, or each step once in
   * joint mode, or is −1: then the first step is looked at, and certain.
   */
  passes(stages_BNHA: Tensor, steps_BN: Tensor): Pass[] {
    const N = stages_BNHA.size(1) - 1;
    const times = flowTimes(N, stages_BNHA.device);
    return Array.from({ length: this.#flow.joint ? N : 1 }, (_, i) => {
      const named_B = steps_BN.select(1, i);
      const noisy_B = named_B.ge(0);
      const choice = { step_B: where(noisy_B, named_B, named_B.mul(0).add(i)), noisy_B };
      return {
        times,
        choice,
        time_B: timeOf(times, choice),
        x_BHA: stageAt(stages_BNHA, choice.step_B),
        next_BHA: stageAt(stages_BNHA, choice.step_B.add(1)),
      };
    });
  }

  /** From the expert's answers, [B, H, D] for each pass, and PaliGemma's if the critic reads it. */
  conclude(passes: readonly Pass[], answers: readonly Tensor[], output_BPD: Tensor | undefined): Judgment {
    const { joint, safe } = this.#flow;
    const first = passes[0]!.x_BHA; // of a joint chain, where it begins
    const logProbs = joint ? [this.#first(first)] : [];
    const entropies = joint ? [gaussianEntropy(first.mul(0))] : [];
    for (const [i, pass] of passes.entries()) {
      const next = this.#next(pass.x_BHA, answers[i]!, pass.times, pass.choice);
      logProbs.push(logDensity(pass.next_BHA, next, safe));
      entropies.push(gaussianEntropy(next.deviation).expandAs(next.mean));
    }
    const logProbs_BHA = joint ? stack(logProbs, 1).mean(1) : logProbs[0]!;
    const known = this.#flow.method === "flow_noise";
    return {
      logProbs_BHA,
      entropy_BHA: known ? stack(entropies, 1).mean(1) : undefined,
      values_B1: this.#ofVlm(output_BPD) ?? this.#meanValue(answers),
    };
  }

  /** (noise − actions − velocity)², of each number: what demonstrations teach. */
  matchingLoss(scene: Scene, actions_BHA: Tensor, noise_BHA: Tensor, time_B: Tensor): Tensor {
    const t = time_B.unsqueeze(1).unsqueeze(2);
    const x_BHA = noise_BHA.mul(t).add(actions_BHA.mul(t.neg().add(1)));
    const answers_BHD = this.#model.think(scene.memory, scene.state_BA, x_BHA, time_B);
    return noise_BHA.sub(actions_BHA).sub(this.#model.velocity(answers_BHD)).square();
  }

  #next(x_BHA: Tensor, answers_BHD: Tensor, times: Tensor, choice: StepChoice): Gaussian {
    const learned = this.#model.noise_head?.forward(answers_BHD);
    return transition(x_BHA, this.#model.velocity(answers_BHD), times, choice, this.#flow, learned);
  }

  /** How likely the first draw was, as one term of a joint chain. */
  #first(noise_BHA: Tensor): Tensor {
    const mean = noise_BHA.mul(0);
    return logDensity(noise_BHA, { mean, deviation: mean.add(1) }, this.#flow.safe);
  }

  /** One term per step, [B, N, …], to one per chain: the mean of all, or that of the noisy step. */
  #choose(terms: Tensor, steps_BN: Tensor): Tensor {
    return this.#flow.joint ? terms.mean(1) : stageAt(terms, steps_BN.select(1, 0).clamp(0));
  }

  #meanValue(answers: readonly Tensor[]): Tensor | undefined {
    const values = answers.flatMap((answers_BHD) => this.#ofExpert(answers_BHD));
    return values.length > 0 ? stack(values, 1).mean(1) : undefined;
  }

  /** [B, 1], or nothing where no critic reads the expert. */
  #ofExpert(answers_BHD: Tensor): Tensor[] {
    const { detach, actions, reads } = this.#critic;
    if (reads !== "expert") return [];
    const read_BHD = actions === undefined ? answers_BHD : answers_BHD.narrow(1, 0, actions);
    const mean_BD = read_BHD.mean(1);
    return [this.#model.value_head!.forward(detach ? mean_BD.detach() : mean_BD)];
  }

  #ofVlm(output_BPD: Tensor | undefined): Tensor | undefined {
    if (this.#critic.reads !== "vlm" || !output_BPD) return undefined;
    return this.#model.value_head!.forward(this.#readTokens(output_BPD).float());
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
