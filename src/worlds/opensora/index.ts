/** The OpenSora family: what it reads of an env block and of a folder, and how it is loaded. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { readJsonFile } from "#formats";
import { UserError } from "#registry";
import { namedRewardModel } from "../section-keys.ts";
import { defineWorld } from "../world-family.ts";
import { OpenSoraWorld } from "./opensora-world.ts";
import { section } from "./section.ts";
import { loadAutoencoder, loadDenoiser, readStatistics } from "./weights.ts";

const autoencoderFolder = "vae";

const settings = z.looseObject({
  opensora_wm_hf_ckpt_path: z.string().optional(),
  world_model_cfg: z
    .looseObject({
      stats_path: z.string().optional(),
      chunk: z.int().positive().default(8),
      condition_frame_length: z.int().positive().default(4),
      image_size: z.tuple([z.int().positive(), z.int().positive()]).default([256, 256]),
      cuda_graph: z.boolean().default(true).describe("replay captured sampling of small batches on a GPU"),
      num_sampling_steps: z.int().positive().max(1000).default(10),
      scheduler: z.looseObject({ use_timestep_transform: z.boolean().default(true) }).prefault({}),
      model: z.looseObject({ from_pretrained: z.string().optional() }).default({}),
      vae: z
        .looseObject({
          from_pretrained: z.string().optional(),
          micro_batch_size: z.int().positive().default(64),
        })
        .prefault({}),
      reward_model: namedRewardModel.optional(),
    })
    .prefault({}),
});

export const opensora = defineWorld({
  name: "opensora",
  settings,
  section,
  rewardModelOf: ({ world_model_cfg }) => world_model_cfg.reward_model,
  recognizes: (folder) => existsSync(join(folder, autoencoderFolder)),
  pictureAutoencoder: (folder, place) => loadAutoencoder(join(folder, autoencoderFolder), place),
  blockOf(folder, { samplingSteps, size }) {
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
  },
  load({ opensora_wm_hf_ckpt_path: folder, world_model_cfg: config }, place) {
    const file = (given: string | undefined, name: string): string => {
      if (given !== undefined) return given;
      if (folder !== undefined) return join(folder, name);
      throw new UserError("set env.train.opensora_wm_hf_ckpt_path to the folder of an OpenSora world");
    };
    const { denoiser, sizes } = loadDenoiser(
      file(config.model.from_pretrained, "model-00001.safetensors"),
      place,
    );
    if (sizes.pad_action_num !== config.condition_frame_length) {
      throw new UserError(
        `this world pads ${sizes.pad_action_num} actions for its memory, but condition_frame_length is ${config.condition_frame_length}`,
      );
    }
    return new OpenSoraWorld({
      denoiser,
      vae: loadAutoencoder(file(config.vae.from_pretrained, autoencoderFolder), place),
      statistics: readStatistics(file(config.stats_path, "dataset_statistics.json"), sizes.action_dim),
      imageSize: config.image_size,
      chunk: config.chunk,
      memoryFrames: config.condition_frame_length,
      steps: config.num_sampling_steps,
      timestepTransform: config.scheduler.use_timestep_transform,
      vaeMicroBatch: config.vae.micro_batch_size,
      cudaGraph: config.cuda_graph,
    });
  },
});
