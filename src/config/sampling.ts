/**
 * How the policy is asked for actions, in training and in evaluation.
 *
 * `do_sample: False` means the most probable action in both (the reference heeds it in training only).
 * Otherwise training samples at `temperature_train`, and evaluation at `temperature_eval` when that is above 0;
 * both fall back to `temperature`, then to 1 and 0.
 */
import type { RunConfig } from "./frame/index.ts";

export interface SamplingMode {
  readonly mode: "sample" | "greedy";
  readonly temperature: number; // 1 when greedy: log-probabilities are then those of the untempered policy
  readonly topK: number; // 0: all tokens
}

export function samplingMode(config: RunConfig, phase: "train" | "eval"): SamplingMode {
  const params = config.rollout.sampling_params;
  const topK = Math.max(0, params.top_k ?? 0);
  const fallback = params.temperature ?? (phase === "train" ? 1 : 0);
  const temperature = (phase === "train" ? params.temperature_train : params.temperature_eval) ?? fallback;
  const greedy = !params.do_sample || temperature <= 0;
  return greedy ? { mode: "greedy", temperature: 1, topK: 0 } : { mode: "sample", temperature, topK };
}
