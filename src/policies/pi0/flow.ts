/**
 * From noise to actions in a few steps, as a chain whose probability can be computed.
 *
 * Flow matching (Lipman et al. 2022, https://arxiv.org/abs/2210.02747): x_t = t·noise + (1 − t)·actions, and the
 * network predicts the velocity noise − actions. Its steps are deterministic, so an RL algorithm has nothing to
 * differentiate; π_RL (https://arxiv.org/abs/2510.25889) makes one step of the chain, or all, a Gaussian:
 * flow_sde turns the ODE into an SDE with the same marginals (Flow-GRPO, https://arxiv.org/abs/2505.05470), flow_cps
 * keeps the amount of noise right instead (https://arxiv.org/abs/2509.05952), flow_noise learns the deviation.
 *
 * We depart in who is noisy: the reference draws one noisy step for a whole batch, we draw one for each row, so that
 * a row's sample does not depend on who is beside it.
 *
 * Shapes: B batch, N steps, H actions of the horizon, A numbers in a model action.
 */
import { cat, type Device, linspace, type Tensor, where, zeros } from "#tensor";

export const noiseMethods = ["flow_sde", "flow_noise", "flow_cps", "flow_ode"] as const;
export type NoiseMethod = (typeof noiseMethods)[number];

export interface FlowOptions {
  readonly method: NoiseMethod;
  /** How strong the noise of flow_sde and flow_cps is. */
  readonly level: number;
  /** Every step is noisy, and the log-probability is the mean over all and the first draw. */
  readonly joint: boolean;
  /** −(x − mean)² in place of the log-density: no deviation in it, so nothing can blow up. */
  readonly safe: boolean;
}

/** One step of each row: which, and whether it is noisy. */
export interface StepChoice {
  readonly step_B: Tensor; // int64
  readonly noisy_B: Tensor; // bool
}

export interface Gaussian {
  readonly mean: Tensor; // [B, H, A]
  readonly deviation: Tensor; // [B, H, A], or broadcast to it; 0 where the step is certain
}

/** 1, 1 − 1/N, …, 1/N, 0. */
export const flowTimes = (steps: number, device: Device): Tensor =>
  cat([linspace(1, 1 / steps, steps, { device }), zeros([1], { device })]);

/** Where the step begins: [B]. */
export const timeOf = (times: Tensor, { step_B }: StepChoice): Tensor => times.indexSelect(0, step_B);

interface Weights {
  readonly ofActions: Tensor; // of the predicted actions
  readonly ofNoise: Tensor; // of the predicted noise
  readonly deviation: Tensor;
}

/** The next x as a Gaussian, given the velocity at x. `learned` is the deviation that flow_noise predicts. */
export function transition(
  x_BHA: Tensor,
  velocity_BHA: Tensor,
  times: Tensor,
  choice: StepChoice,
  options: Pick<FlowOptions, "method" | "level">,
  learned?: Tensor,
): Gaussian {
  const t = column(timeOf(times, choice));
  const actions = x_BHA.sub(velocity_BHA.mul(t));
  const noise = x_BHA.add(velocity_BHA.mul(t.neg().add(1)));
  const { ofActions, ofNoise, deviation } = weightsOf(times, choice, options, learned);
  return { mean: actions.mul(ofActions).add(noise.mul(ofNoise)), deviation };
}

const column = (x_B: Tensor): Tensor => x_B.unsqueeze(1).unsqueeze(2);

function weightsOf(
  times: Tensor,
  { step_B, noisy_B }: StepChoice,
  { method, level }: Pick<FlowOptions, "method" | "level">,
  learned: Tensor | undefined,
): Weights {
  const t = column(times.indexSelect(0, step_B));
  const delta = t.sub(column(times.indexSelect(0, step_B.add(1))));
  const next = t.sub(delta);
  const noisy = column(noisy_B);
  const ofActions = next.neg().add(1);
  const certain = next.mul(0);
  if (method === "flow_sde") {
    // at t = 1 the ratio would be infinite: the next time stands in for it
    const bounded = where(t.eq(1), times.select(0, 1), t);
    const sigma = t.div(bounded.neg().add(1)).sqrt().mul(level);
    const drift = sigma.square().mul(delta).div(t.mul(2));
    return {
      ofActions,
      ofNoise: where(noisy, next.sub(drift), next),
      deviation: where(noisy, delta.sqrt().mul(sigma), certain),
    };
  }
  if (method === "flow_cps") {
    const angle = (Math.PI * level) / 2;
    return {
      ofActions,
      ofNoise: where(noisy, next.mul(Math.cos(angle)), next),
      deviation: where(noisy, next.mul(Math.sin(angle)), certain),
    };
  }
  return { ofActions, ofNoise: next, deviation: learned ? where(noisy, learned, certain) : certain };
}

/** Of each number; 0 where the step was certain. */
export function logDensity(sample: Tensor, { mean, deviation }: Gaussian, safe = false): Tensor {
  if (safe) return sample.sub(mean).square().neg();
  const certain = deviation.eq(0);
  const positive = deviation.maskedFill(certain, 1);
  const exponent = sample.sub(mean).div(positive).square().mul(-0.5);
  const density = exponent.sub(positive.log()).sub(0.5 * Math.log(2 * Math.PI));
  return density.maskedFill(certain, 0);
}

/** ½ log 2πe·deviation², nats; a certain step counts as deviation 1, as in the reference. */
export const gaussianEntropy = (deviation: Tensor): Tensor =>
  deviation
    .maskedFill(deviation.eq(0), 1)
    .log()
    .add(0.5 * Math.log(2 * Math.PI * Math.E));
