/** `env_type: evac_wm`: how the env block of LIBERO imagined by EnerVerse-AC looks. */
import { z } from "zod";
import { chunkKey, cudaGraph, pictureSize } from "../section-keys.ts";
import type { WorldSection } from "../world-family.ts";

const checkpoint = (of: string) =>
  z.looseObject({ pretrained_checkpoint: z.string().describe(`file of ${of}`) });

interface WorldModel {
  readonly params?: { readonly img_cond_stage_config?: { readonly params?: { readonly abspath?: unknown } } };
}

/** EVAC's own file holds CLIP's weights; the path to another copy is read by nobody. */
function separateClip(
  model: WorldModel | undefined,
): { path: string; severity: "warning"; message: string }[] {
  if (model?.params?.img_cond_stage_config?.params?.abspath == null) return [];
  const path = "world_model_cfg.params.img_cond_stage_config.params.abspath";
  const message = "has no effect: CLIP's weights are in EVAC's own checkpoint, and need not be fetched";
  return [{ path, severity: "warning", message }];
}

export const section: WorldSection = {
  keys: {
    model_type: z.enum(["evac"]).default("evac").describe("must be evac"),
    evac_wm_hf_ckpt_path: z.string().nullish().describe("folder of a world that our own commands made"),
    gen_num_image_each_step: z.int().positive().default(8).describe("no effect here: chunk decides"),
    chunk: chunkKey,
    n_previous: z.int().positive().default(4).describe("frames of memory; the world's own description wins"),
    n_view: z.literal(1).default(1).describe("one camera"),
    sample_size: pictureSize.default([256, 256]).describe("height and width of the pictures"),
    fps: z
      .number()
      .positive()
      .default(10)
      .describe("no effect here: condition_fps is what the network is told"),
    initial_image_path: z.string().describe("folder of recorded starts: the world's dataset/"),
    ddim_steps: z
      .int()
      .positive()
      .default(50)
      .describe("sampling steps a chunk; worlds that our commands made need 2"),
    ddim_eta: z
      .number()
      .min(0)
      .max(1)
      .default(1)
      .describe("share of fresh noise in each sampling step; 0: none after the first"),
    condition_fps: z
      .number()
      .positive()
      .default(2)
      .describe("frame rate that the network is told; the world's own description wins"),
    domain_id: z.int().nonnegative().default(11).describe("whose data: 11 is AgiBotWorld"),
    cuda_graph: cudaGraph,
    vae_micro_batch_size: z.int().positive().default(64).describe("frames per call of the autoencoder"),
    init_params: z
      .looseObject({})
      .nullish()
      .describe("no effect here: of the simulator that the world imitates"),
    // The rest describes the network, as the checkpoint's own file does.
    world_model_cfg: z.looseObject({
      pretrained_checkpoint: z
        .union([z.string(), z.array(z.string())])
        .describe("file of the world's weights, or its parts"),
    }),
    reward_model_cfg: checkpoint("the reward model"),
    action_predictor_cfg: checkpoint("the network that says where actions move the hand"),
  },
  chunkKey: "chunk",
  // 2.33 B parameters that run in 32 bits.
  footprint: ({ sample_size }) =>
    ((sample_size as number[] | undefined)?.[0] ?? 256) <= 128
      ? { parameters: 1e7, deviceBytesPerSlot: 2e7, note: "env: our small EVAC sizes" }
      : { parameters: 4.66e9, deviceBytesPerSlot: 1.5e9, note: "env: published EVAC sizes, in fp32" },
  check: ({ world_model_cfg }) => separateClip(world_model_cfg as WorldModel | undefined),
};
