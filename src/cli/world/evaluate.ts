/** `world evaluate`: opens a world's folder as the env would, and measures it against recordings. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { readJsonFile } from "#formats";
import { UserError } from "#registry";
import { loadReward, type RewardModel } from "#rewards";
import type { Device } from "#tensor";
import { measureTruth, type RecordedFrames, type TruthReport } from "#training";
import { type World, worlds } from "#worlds";

export const evaluationSettings = z.strictObject({
  family: z.string().default("opensora"),
  episodes: z.int().positive().default(256),
  chunks: z.int().positive().default(3),
  batch: z.int().positive().default(32),
  num_sampling_steps: z.int().positive().default(2),
  threshold: z.number().min(0).max(1).default(0.5),
  hold_frames: z.int().positive().default(1),
  seed: z.int().min(0).default(0),
});
export type EvaluationSettings = z.infer<typeof evaluationSettings>;

export async function evaluateWorld(
  folder: string,
  frames: RecordedFrames,
  settings: EvaluationSettings,
  device: Device,
): Promise<TruthReport> {
  const world = await openWorld(folder, frames, settings, device);
  const { episodes, chunks, batch, threshold, hold_frames: holdFrames, seed } = settings;
  return measureTruth(world, openJudge(folder, device), frames, {
    episodes,
    chunks,
    batch,
    threshold,
    holdFrames,
    seed,
    onProgress: (done, total) => console.log(`replayed ${done} of ${total}`),
  });
}

async function openWorld(
  folder: string,
  frames: RecordedFrames,
  { family: name, num_sampling_steps }: EvaluationSettings,
  device: Device,
): Promise<World> {
  const family = await worlds.get(name);
  const settings = family.settings.parse({
    opensora_wm_hf_ckpt_path: folder,
    world_model_cfg: {
      image_size: frames.size,
      num_sampling_steps,
      scheduler: { use_timestep_transform: false },
    },
  });
  return family.load(settings, { device });
}

/** The judge that training left in the folder, whichever kind it is. */
function openJudge(folder: string, device: Device): RewardModel {
  const name = ["taskemb_resnet_rm", "resnet_rm"].find((each) => existsSync(join(folder, `${each}.pth`)));
  if (!name)
    throw new UserError(
      `${folder} has no judge (taskemb_resnet_rm.pth or resnet_rm.pth): run world train-reward`,
    );
  const beside = join(folder, `${name}.json`);
  const fallback = name === "resnet_rm" ? "ResnetRM" : "TaskEmbedResnetRewModel";
  const type = existsSync(beside) ? String(readJsonFile(beside).type ?? fallback) : fallback;
  return loadReward({ type, from_pretrained: join(folder, `${name}.pth`) }, { device });
}
