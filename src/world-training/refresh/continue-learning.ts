/**
 * A world's networks continue to learn from where they are: its denoiser by its family's own training, and its reward model.
 *
 * The autoencoder stays, so that latents keep their meaning: episodes under way, cached memories and the other network all rely on it.
 */
import { trainingOfWorld } from "../families.ts";
import type { RecordedFrames } from "../frames/recorded-frames.ts";
import type { LoopHooks } from "../learning/training-loop.ts";
import { openRewardModel } from "../reward-model/open-reward-model.ts";
import { rewardModelSettings, trainRewardModel } from "../reward-model/training.ts";
import type { RefreshSettings } from "./refresh.ts";

/** `candidate` is a copy of `world`, and gets the networks that learned. `hooksOf` names what is being learned. */
export async function continueLearning(
  world: string,
  candidate: string,
  frames: RecordedFrames,
  settings: RefreshSettings,
  hooksOf: (what: "denoiser" | "judge") => LoopHooks,
): Promise<void> {
  const { denoiser, sizesOf } = await trainingOfWorld(world);
  const { batch_size, cuda_graph, seed, minutes, judge_minutes } = settings;
  const shared = { batch_size, cuda_graph, seed, init_from: world, lr_warmup_steps: 50 };
  const { steps, lr, precision } = settings;
  const own = denoiser.settings.parse({ ...sizesOf(world), ...shared, steps, lr, precision });
  await denoiser.train(frames, own, candidate, limited(hooksOf("denoiser"), minutes));
  const widths = rewardModelWidths(world);
  if (widths.includes(0) || frames.tasks.length < 2) return; // one without tasks is left as it is
  const { judge_steps, judge_lr } = settings;
  const judged = rewardModelSettings.parse({ ...shared, widths, steps: judge_steps, lr: judge_lr });
  await trainRewardModel(frames, judged, candidate, limited(hooksOf("judge"), judge_minutes));
}

const limited = (hooks: LoopHooks, minutes: number | null | undefined): LoopHooks =>
  minutes ? { ...hooks, timeLimit: 60 * minutes } : hooks;

function rewardModelWidths(world: string): number[] {
  const state = openRewardModel(world, "cpu").state();
  return [1, 2, 3, 4].map((stage) => state.get(`visual_encoder.${stage}.0.conv1.weight`)?.shape[0] ?? 0);
}
