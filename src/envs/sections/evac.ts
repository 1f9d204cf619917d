/** `env_type: evac_wm`: LIBERO imagined by EnerVerse-AC. */
import { z } from "zod";
import type { FamilySettings } from "#registry";
import { chunkFindings, cudaGraph, learnedKeys, picture } from "./learned.ts";

const checkpoint = z.looseObject({ pretrained_checkpoint: z.string() });

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

export const evacSection: FamilySettings = {
  offload: true,
  settings: z.strictObject({
    ...learnedKeys,
    model_type: z.enum(["evac"]).default("evac"),
    evac_wm_hf_ckpt_path: z.string().nullish().describe("folder of a world that our own commands made"),
    gen_num_image_each_step: z.int().positive().default(8),
    chunk: z.int().positive().default(8),
    n_previous: z.int().positive().default(4),
    n_view: z.literal(1).default(1),
    sample_size: picture.default([256, 256]),
    fps: z.number().positive().default(10),
    initial_image_path: z.string(),
    ddim_steps: z.int().positive().default(50),
    ddim_eta: z.number().min(0).max(1).default(1),
    condition_fps: z.number().positive().default(2),
    domain_id: z.int().nonnegative().default(11).describe("whose data: 11 is AgiBotWorld"),
    cuda_graph: cudaGraph,
    vae_micro_batch_size: z.int().positive().default(64),
    init_params: z.looseObject({}).nullish(), // of the simulator that it imitates
    world_model_cfg: z.looseObject({ pretrained_checkpoint: z.union([z.string(), z.array(z.string())]) }), // the rest describes the network, as the checkpoint's own file does
    reward_model_cfg: checkpoint,
    action_predictor_cfg: checkpoint,
  }),
  // 2.33 B parameters that run in 32 bits.
  footprint: ({ sample_size }) =>
    ((sample_size as number[] | undefined)?.[0] ?? 256) <= 128
      ? { parameters: 1e7, deviceBytesPerSlot: 2e7, note: "env: our small EVAC sizes" }
      : { parameters: 4.66e9, deviceBytesPerSlot: 1.5e9, note: "env: published EVAC sizes, in fp32" },
  check: (settings, run) => [
    ...chunkFindings("chunk", settings.chunk, run),
    ...separateClip(settings.world_model_cfg as WorldModel | undefined),
  ],
};
