/**
 * DDIM as EVAC samples it: v-prediction on a schedule whose last step is pure noise.
 *
 * Song et al. 2020, https://arxiv.org/abs/2010.02502; Lin et al. 2023 (zero terminal SNR, trailing steps),
 * https://arxiv.org/abs/2305.08891; the shrinking scale of the predicted clean latents is DynamiCrafter's,
 * https://arxiv.org/abs/2310.12190. Guidance is off, as in the reference, which passes no unconditional branch.
 */

export interface NoiseTables {
  readonly betas: readonly number[];
  readonly alphasCumprod: readonly number[];
  readonly scales: readonly number[]; // of the clean latents at each timestep
}

const timesteps = 1000;
const rampSteps = 400;

export interface NoiseSettings {
  readonly linear_start: number;
  readonly linear_end: number;
  readonly rescale_betas_zero_snr: boolean;
  readonly base_scale: number;
}

export function noiseTables(settings: NoiseSettings): NoiseTables {
  const { linear_start, linear_end, rescale_betas_zero_snr, base_scale } = settings;
  const root = linspace(Math.sqrt(linear_start), Math.sqrt(linear_end), timesteps);
  const plain = root.map((value) => value * value);
  const betas = rescale_betas_zero_snr ? zeroTerminal(plain) : plain;
  const ramp = linspace(1, base_scale, rampSteps);
  const scales = [...ramp, ...Array<number>(timesteps).fill(base_scale)];
  return { betas, alphasCumprod: cumulative(betas), scales };
}

const linspace = (from: number, to: number, count: number): number[] =>
  Array.from({ length: count }, (_, i) => from + ((to - from) * i) / (count - 1));

function cumulative(betas: readonly number[]): number[] {
  let product = 1;
  return betas.map((beta) => (product *= 1 - beta));
}

/** Shifts and stretches the square roots of the signal so that the last one is 0 and the first unchanged. */
function zeroTerminal(betas: readonly number[]): number[] {
  const signal = cumulative(betas).map(Math.sqrt);
  const [first, last] = [signal[0]!, signal.at(-1)!];
  const power = signal.map((value) => (((value - last) * first) / (first - last)) ** 2);
  return power.map((value, i) => 1 - (i === 0 ? value : value / power[i - 1]!));
}

/** One step from a noisier latent to a cleaner one; all factors multiply whole tensors. */
export interface DdimStep {
  readonly timestep: number;
  readonly signal: number; // √ᾱ
  readonly noise: number; // √(1 − ᾱ)
  readonly previousSignal: number; // √ᾱ of the next, cleaner step
  readonly direction: number; // of the predicted noise
  readonly sigma: number; // of fresh noise
  readonly rescale: number; // of the predicted clean latent
}

/** The steps in the order they are taken, noisiest first. `eta` 1 adds all of DDPM's noise, 0 none. */
export function ddimSteps(tables: NoiseTables, count: number, eta: number): DdimStep[] {
  const times = trailingTimesteps(count);
  const { alphasCumprod: alphas, scales } = tables;
  const steps = times.map((timestep, i) => {
    const alpha = alphas[timestep]!;
    const previous = alphas[i === 0 ? 0 : times[i - 1]!]!;
    const sigma = eta * Math.sqrt(((1 - previous) / (1 - alpha)) * (1 - alpha / previous));
    return {
      timestep,
      signal: Math.sqrt(alpha),
      noise: Math.sqrt(1 - alpha),
      previousSignal: Math.sqrt(previous),
      direction: Math.sqrt(Math.max(0, 1 - previous - sigma * sigma)),
      sigma,
      rescale: scales[times[Math.max(i - 1, 0)]!]! / scales[timestep]!,
    };
  });
  return steps.reverse();
}

/** Ascending, evenly spaced, ending at the last timestep: 19, 39, …, 999 for 50. */
export function trailingTimesteps(count: number): number[] {
  const spacing = timesteps / count;
  return Array.from({ length: count }, (_, i) => Math.round(timesteps - i * spacing) - 1).reverse();
}
