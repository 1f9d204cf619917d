/** The noise schedule's tables as EVAC's checkpoints carry them: written for other readers, recomputed for our own use. */
import { type Tensor, tensor } from "#tensor";
import { type NoiseSettings, noiseTables } from "./schedule.ts";

const tiny = 1e-20; // below which a variance's logarithm is cut off

/** `sqrt_recip` tables are zero, as the published code has them under v-prediction: the last would be infinite. */
export function scheduleBuffers(settings: NoiseSettings): Map<string, Tensor> {
  const { betas, alphasCumprod: now, scales } = noiseTables(settings);
  const before = [1, ...now.slice(0, -1)];
  const variance = betas.map((beta, i) => (beta * (1 - before[i]!)) / (1 - now[i]!));
  const tables = {
    betas,
    alphas_cumprod: now,
    alphas_cumprod_prev: before,
    sqrt_alphas_cumprod: now.map(Math.sqrt),
    sqrt_one_minus_alphas_cumprod: now.map((alpha) => Math.sqrt(1 - alpha)),
    log_one_minus_alphas_cumprod: now.map((alpha) => Math.log(1 - alpha)),
    sqrt_recip_alphas_cumprod: now.map(() => 0),
    sqrt_recipm1_alphas_cumprod: now.map(() => 0),
    posterior_variance: variance,
    posterior_log_variance_clipped: variance.map((value) => Math.log(Math.max(value, tiny))),
    posterior_mean_coef1: betas.map((beta, i) => (beta * Math.sqrt(before[i]!)) / (1 - now[i]!)),
    posterior_mean_coef2: betas.map((beta, i) => ((1 - before[i]!) * Math.sqrt(1 - beta)) / (1 - now[i]!)),
    scale_arr: scales,
  };
  return new Map(Object.entries(tables).map(([name, values]) => [name, tensor([...values])]));
}
