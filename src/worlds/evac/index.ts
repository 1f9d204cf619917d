/** The EVAC family: what it reads of an env block and of a folder, and how it is loaded. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { UserError } from "#registry";
import { defineWorld } from "../world-family.ts";
import { liberoCamera } from "./camera.ts";
import { descriptionBeside, type EvacDescription } from "./description.ts";
import { EvacWorld } from "./evac-world.ts";
import { evacFiles } from "./files.ts";
import { agibotStatistics } from "./poses.ts";
import { section } from "./section.ts";
import { evacSizes } from "./sizes.ts";
import { liberoDrawing } from "./trajectory.ts";
import { loadActionPredictor, loadModel, readFirstStage } from "./weights.ts";

/** One file, or several that together hold one checkpoint. */
const files = z.union([z.string(), z.array(z.string()).min(1)]).transform((value) => [value].flat());

const settings = z.looseObject({
  world_model_cfg: z.looseObject({ pretrained_checkpoint: files, params: evacSizes.prefault({}) }),
  action_predictor_cfg: z.looseObject({
    pretrained_checkpoint: z.string(),
    normalise_poses: z
      .boolean()
      .default(false)
      .describe("normalize poses around the predictor; the reference does not"),
  }),
  reward_model_cfg: z
    .looseObject({ pretrained_checkpoint: z.string(), type: z.string().default("RewModel") })
    .optional(),
  chunk: z.int().positive().default(8),
  n_previous: z.int().positive().default(4),
  sample_size: z.tuple([z.int().positive(), z.int().positive()]).default([256, 256]),
  ddim_steps: z.int().positive().max(1000).default(50),
  ddim_eta: z.number().min(0).max(1).default(1),
  condition_fps: z.number().positive().default(2),
  domain_id: z.int().nonnegative().default(11).describe("whose data: 11 is AgiBotWorld"),
  vae_micro_batch_size: z.int().positive().default(64),
  cuda_graph: z.boolean().default(true).describe("replay captured steps of small batches on a GPU"),
  reference_quirks: z
    .boolean()
    .default(false)
    .describe("bring back the reference's flaws: see evac/README.md"),
});

export const evac = defineWorld({
  name: "evac",
  settings,
  section,
  rewardModelOf: ({ reward_model_cfg: named }) =>
    named && { type: named.type, from_pretrained: named.pretrained_checkpoint },
  recognizes: (folder) =>
    [evacFiles.description, evacFiles.autoencoder].some((name) => existsSync(join(folder, name))),
  pictureAutoencoder: (folder, place) => readFirstStage(folder, place).vae,
  // Without fresh noise between its few steps.
  blockOf: (folder, { samplingSteps, size }) => ({
    world_model_cfg: { pretrained_checkpoint: join(folder, evacFiles.checkpoint) },
    action_predictor_cfg: { pretrained_checkpoint: join(folder, evacFiles.predictor) },
    sample_size: [...size],
    chunk: descriptionBeside(join(folder, evacFiles.checkpoint))?.params.chunk ?? 8,
    ddim_steps: samplingSteps ?? 2,
    ddim_eta: 0,
    vae_micro_batch_size: 512,
  }),
  load(config, place) {
    const { world_model_cfg: world, action_predictor_cfg: predictorConfig } = config;
    const own = describe(config);
    const { predictor, scale } = loadActionPredictor(predictorConfig.pretrained_checkpoint, {
      device: place.device,
    });
    if (own.normalise_poses && !scale) {
      throw new UserError(
        `${predictorConfig.pretrained_checkpoint} has no abs_action_mean and abs_action_std`,
      );
    }
    return new EvacWorld({
      model: loadModel(world.pretrained_checkpoint, own.params, place),
      sizes: own.params,
      predictor,
      poseScale: own.normalise_poses ? scale : undefined,
      imageSize: own.sample_size,
      memoryFrames: own.n_previous,
      camera: own.camera,
      drawing: own.drawing,
      statistics: own.statistics,
      steps: config.ddim_steps,
      eta: config.ddim_eta,
      fps: own.condition_fps,
      domain: own.domain_id,
      vaeMicroBatch: config.vae_micro_batch_size,
      referenceQuirks: config.reference_quirks,
      cudaGraph: config.cuda_graph,
    });
  },
});

/** What the folder says of itself; for published worlds, which say nothing, what the block says and LIBERO's constants. */
function describe(config: z.infer<typeof settings>): EvacDescription {
  const { world_model_cfg: world, action_predictor_cfg: predictor, ...block } = config;
  const path = world.pretrained_checkpoint[0]!;
  const found = descriptionBeside(path);
  const own = found ?? {
    ...block,
    params: world.params,
    normalise_poses: predictor.normalise_poses,
    camera: liberoCamera,
    drawing: liberoDrawing,
    statistics: agibotStatistics,
  };
  if (own.params.chunk !== config.chunk)
    throw new UserError(
      `this world imagines ${own.params.chunk} frames at once, but chunk is ${config.chunk}`,
    );
  if (own.sample_size.join() !== config.sample_size.join()) {
    throw new UserError(
      `${path}: this world's pictures are ${own.sample_size.join(" × ")}, but sample_size is ${config.sample_size.join(" × ")}`,
    );
  }
  return own;
}
