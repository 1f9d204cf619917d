/**
 * A world's folder as an env block: what `env.train` says to imagine in it, with its judge and its starts.
 *
 * The family is read off the files of the folder; sizes off what training wrote beside them.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { readJsonFile } from "#formats";
import { UserError } from "#registry";
import { loadReward, type RewardModel } from "#rewards";
import type { Device, DType } from "#tensor";
import { descriptionBeside, type World, worlds } from "#worlds";

export type WorldFamilyName = "opensora" | "wan" | "evac";

export interface OpenWorldOptions {
  readonly device: Device;
  readonly dtype?: DType;
  /** Denoising steps per chunk; the family's default where absent. */
  readonly samplingSteps?: number | undefined;
  /** Height and width of pictures. */
  readonly size: readonly [number, number];
}

export function familyOf(folder: string): WorldFamilyName {
  const has = (name: string): boolean => existsSync(join(folder, name));
  if (has("Wan2.2_VAE.pth")) return "wan";
  if (has("evac.json") || has("first_stage_model.ckpt")) return "evac";
  if (has("vae")) return "opensora";
  throw new UserError(`${folder} holds no world: train one with reverie world train-vae and train`);
}

export async function openWorld(folder: string, options: OpenWorldOptions): Promise<World> {
  const name = familyOf(folder);
  const family = await worlds.get(name);
  const block = blocks[name](folder, options);
  return family.load(family.settings.parse(block), { device: options.device, dtype: options.dtype });
}

function openSoraBlock(folder: string, { samplingSteps, size }: OpenWorldOptions): object {
  const config = readJsonFile(join(folder, "config.json"));
  return {
    opensora_wm_hf_ckpt_path: folder,
    world_model_cfg: {
      image_size: [...size],
      chunk: config.chunk ?? 8,
      condition_frame_length: config.condition_frame_length ?? 4,
      num_sampling_steps: samplingSteps ?? 2,
      scheduler: { use_timestep_transform: false },
    },
  };
}

const wanBlock = (folder: string, { samplingSteps, size, device }: OpenWorldOptions): object => ({
  wan_wm_hf_ckpt_path: folder,
  image_size: [...size],
  vae_micro_batch_size: videosTogether(size, device),
  ...(samplingSteps !== undefined && { num_inference_steps: samplingSteps }),
});

/**
 * On a GPU the autoencoder gets as many pixels at a time as eight videos of published size have: a few small ones would wait for launches.
 * A CPU is fastest with what fits its caches (eight of 64 × 64 instead of 64: 1.5 times as fast).
 */
const videosTogether = (
  [height, width]: OpenWorldOptions["size"],
  device: OpenWorldOptions["device"],
): number => (device === "cpu" ? 8 : Math.max(8, Math.round((8 * 256 * 256) / (height * width))));

/** Without fresh noise between its few steps. */
const evacBlock = (folder: string, { samplingSteps, size }: OpenWorldOptions): object => ({
  world_model_cfg: { pretrained_checkpoint: join(folder, "evac.ckpt") },
  action_predictor_cfg: { pretrained_checkpoint: join(folder, "action_predictor.pth") },
  sample_size: [...size],
  chunk: descriptionBeside(join(folder, "evac.ckpt"))?.params.chunk ?? 8,
  ddim_steps: samplingSteps ?? 2,
  ddim_eta: 0,
  vae_micro_batch_size: 512,
});

const blocks = { opensora: openSoraBlock, wan: wanBlock, evac: evacBlock };

/** The judge that training left in the folder, whichever kind it is. */
export function openJudge(folder: string, device: Device): RewardModel {
  const names = ["taskemb_resnet_rm", "resnet_rm"];
  const name = names.find((each) => existsSync(join(folder, `${each}.pth`)));
  if (!name)
    throw new UserError(
      `${folder} has no judge (taskemb_resnet_rm.pth or resnet_rm.pth): run reverie world train-reward`,
    );
  const beside = join(folder, `${name}.json`);
  const fallback = name === "resnet_rm" ? "ResnetRM" : "TaskEmbedResnetRewModel";
  const type = existsSync(beside) ? String(readJsonFile(beside).type ?? fallback) : fallback;
  return loadReward({ type, from_pretrained: join(folder, `${name}.pth`) }, { device });
}
