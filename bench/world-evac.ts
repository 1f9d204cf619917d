/** EVAC for the worlds bench: UNet, autoencoder, CLIP and resamplers in their published sizes, or all tiny. */
import { stack, type Tensor, tensor } from "#tensor";
import { ActionPredictor } from "../src/worlds/evac/action-predictor.ts";
import { liberoCamera } from "../src/worlds/evac/camera.ts";
import { type EvacParts, EvacWorld } from "../src/worlds/evac/evac-world.ts";
import { followHands } from "../src/worlds/evac/follow-hand.ts";
import { autoencoderSizes, EvacModel } from "../src/worlds/evac/model.ts";
import { agibotStatistics, relativeAction } from "../src/worlds/evac/poses.ts";
import { evacSizes } from "../src/worlds/evac/sizes.ts";
import { liberoDrawing, poseMaps } from "../src/worlds/evac/trajectory.ts";
import { type Family, randomized } from "./world-family.ts";

const [chunk, memory, steps, vaeBatch, fps, domain] = [8, 4, 50, 64, 2, 11];
const tinyResampler = { dim: 64, depth: 2, dim_head: 32, heads: 2, output_dim: 64 };
const tinySizes = {
  unet_config: {
    params: {
      model_channels: 32,
      channel_mult: [1, 2],
      attention_resolutions: [1, 2],
      num_res_blocks: 1,
      num_head_channels: 32,
      context_dim: 64,
    },
  },
  first_stage_config: { params: { ddconfig: { ch: 32, ch_mult: [1, 1, 2, 2], num_res_blocks: 1 } } },
  cond_stage_config: { params: tinyResampler },
  image_proj_stage_config: { params: { ...tinyResampler, embedding_dim: 64 } },
  img_cond_stage_config: {
    params: { width: 64, layers: 2, heads: 2, text_width: 16, context_length: 4, vocabulary: 8 },
  },
};

/** The UNet as published; eight pictures decoded, eight drawn poses encoded, one picture through CLIP. */
const operations = steps * 3.66e12 + chunk * (0.622e12 + 0.273e12) + 0.33e12;

export const evac: Family = {
  name: "evac",
  goal: 12,
  frameTolerance: 1e-3,
  operations,
  build(tiny, place) {
    const sizes = evacSizes.parse(tiny ? tinySizes : {});
    const image = tiny ? 64 : 256;
    const shown = tiny ? 4 : steps; // fifty steps of even a tiny UNet are long on a CPU
    const spread = tiny ? undefined : 0.02;
    const parts: EvacParts = {
      model: randomized(new EvacModel(sizes, place), place.device, spread),
      sizes,
      predictor: randomized(new ActionPredictor({ action: 7, pose: 8, hidden: 64 }), "cpu"),
      imageSize: [image, image],
      memoryFrames: memory,
      camera: liberoCamera,
      drawing: liberoDrawing,
      statistics: agibotStatistics,
      steps: shown,
      eta: 1,
      fps,
      domain,
      vaeMicroBatch: vaeBatch,
      referenceQuirks: false,
    };
    parts.predictor.to({ device: place.device });
    const world = new EvacWorld(parts);
    const vae = autoencoderSizes(sizes);
    return {
      world,
      short: new EvacWorld({ ...parts, steps: 1, cudaGraph: false }),
      sizes: { ...sizes, vae, image, chunk, memory, steps: shown, vae_batch: vaeBatch, fps, domain },
      weights: () => parts.model.namedParameters(),
      inputs: (memories, actions, noise) => {
        const { poses } = followHands(world.parts, memories, actions);
        const relative = poses.map((rows) =>
          rows.slice(1).map((pose, i) => relativeAction(rows[i]!, pose, agibotStatistics)),
        );
        const drawn = (purpose: "latents" | "step" | "condition-posterior"): Tensor[] =>
          noise.drawn.get(purpose)!;
        return new Map([
          ["memory", stack(memories.map(({ latents }) => latents!.transpose(0, 1)))],
          ["tokens", stack(memories.map(({ tokens }) => tokens!))],
          [
            "maps",
            poseMaps(
              poses.flatMap((rows) => rows.slice(1)),
              liberoCamera,
              [image, image],
            ),
          ],
          ["map_noise", drawn("condition-posterior")[0]!.flatten(0, 1)],
          ["actions", tensor(relative)],
          ["noise", drawn("latents")[0]!],
          ["step_noise", stack(drawn("step"))],
        ]);
      },
      dispose() {
        world.to({}); // lets go of captured graphs
        parts.model.dispose();
      },
    };
  },
};
