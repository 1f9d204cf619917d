/**
 * The closed loop of a run inside a world model: the policy acts on what the world shows it, and the simulator plays the same actions from
 * the same start.
 *
 * Recorded episodes tell how true a world is where the policy acts on the true frames. In training it acts on the dream, and finds what the dream
 * gets wrong. P(dream success | real failure) of such episodes does not depend on how good the policy is, so its growth is the world's
 * mistakes being learned. The scenes are of the exams' range (start-seeds.ts), the same at every evaluation.
 */
import type { RunConfig } from "#config";
import { learnedEnvSettings, successCriterion } from "#envs";
import type { Metrics } from "#metrics";
import { seedRanges } from "#simulators";
import { measureTruth, type OutcomeRates, SimulatedTruth } from "#world-training";
import type { Crew, Progress } from "../crew.ts";

/** Episodes imagined together while measuring. */
export const measuredTogether = 128;

/** How far a run's episodes are imagined, and what counts as success there. */
export function asPlayed({ env, actor }: RunConfig) {
  const { max_episode_steps: steps, horizon_chunks } = env.train;
  const chunks = Math.ceil(steps / actor.model.num_action_chunks);
  return {
    chunks: Math.min(chunks, Number(horizon_chunks ?? chunks)),
    ...successCriterion(learnedEnvSettings.parse(env.train)),
  };
}

/** The temperature that training acts at. */
export const trainingTemperature = ({ rollout }: RunConfig): number =>
  rollout.sampling_params.temperature_train ?? rollout.sampling_params.temperature ?? 1;

/** Undefined where env.train imagines nothing. */
export async function measureClosedLoop(
  crew: Crew,
  episodes: number,
  onProgress: Progress,
): Promise<OutcomeRates | undefined> {
  const { config } = crew.checked;
  const [{ opened, device } = { opened: undefined, device: undefined }] = crew.stages;
  const imagination = opened?.imagination?.();
  if (!imagination) return undefined;
  const { world, rewardModel } = imagination;
  const { policy, memory } = crew.actors.first;
  using source = new SimulatedTruth(policy, {
    suite: String(config.env.eval?.task_suite_name),
    size: world.imageSize[0],
    episodes,
    seed: config.runner.seed % seedRanges.exams.collections,
    temperature: trainingTemperature(config),
  });
  const batch = Math.min(measuredTogether, episodes);
  const options = { ...asPlayed(config), batch, seed: config.runner.seed, onProgress };
  await crew.makeWhole();
  const leaves = config.env.train.enable_offload;
  if (leaves) opened?.onload?.(device);
  try {
    return await memory.awake(() => measureTruth(world, rewardModel, source, options));
  } finally {
    if (leaves) opened?.offload?.();
  }
}

/** `eval/closed_loop_…`; of nothing there is no share. */
export function closedLoopMetrics(found: OutcomeRates): Metrics {
  const shares = {
    "eval/closed_loop_false_positive": found.falsePositive.share,
    "eval/closed_loop_missed_success": found.missedSuccess.share,
    "eval/closed_loop_false_success": found.falseSuccess.share,
    "eval/closed_loop_dream_success": found.dreamSuccess.share,
    "eval/closed_loop_true_success": found.trueSuccess.share,
  };
  return Object.fromEntries(Object.entries(shares).filter(([, share]) => Number.isFinite(share)));
}
