/**
 * EVAC as a world: remembers every latent frame of an episode, sees four of them, imagines eight more.
 *
 * Actions become absolute poses (a small network guesses where each leads), which condition the sampling twice:
 * drawn into pictures, and as relative poses read by a resampler. The four frames of memory are spread over the whole
 * episode, the last one always included. The first picture is shown through CLIP.
 *
 * With `referenceQuirks` three flaws of the reference return, for parity: the first episode's CLIP tokens serve the
 * whole batch; poses are written one slot early, so that the last frame's is stale; and each chunk starts from the
 * pose after the previous chunk's first action instead of its last.
 *
 * Shapes: B episodes, M memory frames (4), C new ones (8), T = M + C, z latent channels, h w latent positions.
 */
import { cat, type Device, type DType, scope, stack, type Tensor, tensor } from "#tensor";
import { forGpu } from "../gpu.ts";
import { inMicroBatches } from "../micro-batch.ts";
import type { NoiseSource } from "../noise.ts";
import {
  gatherMemory,
  type Imagined,
  type ImagineRequest,
  type World,
  type WorldMemory,
  type WorldStart,
} from "../world.ts";
import type { Camera } from "./camera.ts";
import { clipPicture } from "./clip-picture.ts";
import { type FollowedHands, followHands, type HandFollower } from "./follow-hand.ts";
import { pictureStack, rayPlanes } from "./picture-stack.ts";
import { type PoseStatistics, relativeAction } from "./poses.ts";
import { DdimSampler, type EvacConditions, type SamplerParts } from "./sampler.ts";
import { type Drawing, type Pose, poseMaps } from "./trajectory.ts";
import { publishedState } from "./weights.ts";

export interface EvacParts extends SamplerParts, HandFollower {
  readonly imageSize: readonly [number, number];
  readonly camera: Camera;
  readonly drawing: Drawing;
  readonly statistics: PoseStatistics;
  readonly vaeMicroBatch: number;
}

/** Which of an episode's frames so far a chunk sees: spread evenly from the first, and the last. */
export function recalledFrames(count: number, memoryFrames: number): number[] {
  const spread = memoryFrames - 1;
  return [...Array.from({ length: spread }, (_, i) => Math.floor((count * i) / spread)), count - 1];
}

export class EvacWorld implements World {
  readonly name = "evac";
  readonly chunk: number;
  readonly actionSize: number;
  readonly imageSize: readonly [number, number];
  readonly keyframes = 0;
  readonly needsPose = true;
  readonly parts: EvacParts;
  readonly #sampler: DdimSampler;

  constructor(parts: EvacParts) {
    this.parts = parts;
    this.chunk = parts.sizes.chunk;
    this.actionSize = parts.predictor.actionSize;
    this.imageSize = parts.imageSize;
    this.#sampler = new DdimSampler(parts);
    forGpu(parts.model);
  }

  begin(starts: readonly WorldStart[], slots: readonly number[], noise: NoiseSource): WorldMemory[] {
    const { memoryFrames } = this.parts;
    return scope(() => {
      const frames = stack(starts.map(({ frame }) => frame)).to({ device: this.#device() });
      const eps = noise.draw("posterior", slots, [memoryFrames, ...this.#latentShape()]).flatten(0, 1);
      const latents = this.encode(frames.repeatInterleave(memoryFrames, 0), eps).unflatten(0, [
        -1,
        memoryFrames,
      ]);
      const tokens = this.imageTokens(frames);
      return starts.map(({ pose }, b) => ({
        latents: latents.select(0, b).clone(), // [frames so far, z, h, w]
        tokens: tokens.select(0, b).clone(),
        pose: pose!.clone(), // from which the next chunk starts
        motion: pose!.mul(0), // the last change that led to it
        firstPose: pose!.clone(),
      }));
    });
  }

  imagine({ memories, actions, slots, noise, watch }: ImagineRequest): Imagined {
    return scope(() => {
      const { poses, motion } = followHands(this.parts, memories, actions);
      const memory_BzMhw = stack(memories.map(({ latents }) => this.#recall(latents!)));
      const conditions = this.conditions(memories, poses, memory_BzMhw, slots, noise);
      const new_BzChw = this.#sampler.sample(memory_BzMhw, conditions, { slots, noise, watch });
      return {
        frames: this.decode(new_BzChw),
        latents: cat([memory_BzMhw, new_BzChw], 2),
        memories: this.#remember(memories, { poses, motion }, memory_BzMhw, new_BzChw),
      };
    });
  }

  robotState(memory: WorldMemory): Tensor {
    const pose = this.parts.referenceQuirks ? memory.firstPose! : memory.pose!;
    return cat([pose, pose], 0);
  }

  /** CLIP tokens of pictures, read by their resampler: [B, Q, width]. */
  imageTokens(frames_B3HW: Tensor): Tensor {
    const { model } = this.parts;
    const { dtype } = model.cond_stage_model.latents;
    const pictures = clipPicture(frames_B3HW.clamp(-1, 1)).to({ dtype });
    return model.image_proj_model.forward(model.embedder.model.forward(pictures));
  }

  /** What the denoiser is told: a picture stack beside the noise, and tokens. */
  conditions(
    memories: readonly WorldMemory[],
    poses: readonly (readonly Pose[])[],
    memory_BzMhw: Tensor,
    slots: readonly number[],
    noise: NoiseSource,
  ): EvacConditions {
    const { model, statistics, referenceQuirks } = this.parts;
    const relative = poses.map((rows) =>
      rows.slice(1).map((pose, i) => relativeAction(rows[i]!, pose, statistics)),
    );
    const place = { dtype: memory_BzMhw.dtype, device: memory_BzMhw.device } as const;
    const tokens = gatherMemory(memories, "tokens");
    return {
      pictures: this.#pictures(poses, memory_BzMhw, slots, noise).to({
        dtype: model.cond_stage_model.latents.dtype,
      }),
      image: stack(referenceQuirks ? tokens.map(() => tokens[0]!) : tokens),
      actions: model.cond_stage_model.forward(tensor(relative, place)),
    };
  }

  encode(images_NCHW: Tensor, eps_NChw: Tensor): Tensor {
    const vae = this.parts.model.first_stage_model;
    const { dtype, device } = vae.quant_conv.weight;
    return inMicroBatches(images_NCHW, this.parts.vaeMicroBatch, (part, start) =>
      vae.encode(part.to({ dtype, device }), eps_NChw.narrow(0, start, part.shape[0]!)).float(),
    );
  }

  /** [B, z, T, h, w] to [B, T, 3, H, W]. */
  decode(latents_BzThw: Tensor): Tensor {
    const vae = this.parts.model.first_stage_model;
    const rows = latents_BzThw.transpose(1, 2).flatten(0, 1);
    const { dtype } = vae.post_quant_conv.weight;
    const decode = (part: Tensor): Tensor => vae.decode(part.to({ dtype })).float();
    const images = inMicroBatches(rows, this.parts.vaeMicroBatch, decode);
    return images.unflatten(0, [latents_BzThw.shape[0]!, -1]);
  }

  /** Of the means, [B, z, C, h, w]. */
  encodeFrames(frames_BC3HW: Tensor): Tensor {
    const vae = this.parts.model.first_stage_model;
    const { dtype, device } = vae.quant_conv.weight;
    const rows = frames_BC3HW.flatten(0, 1).to({ dtype, device });
    const latents = inMicroBatches(rows, this.parts.vaeMicroBatch, (part) => vae.encode(part));
    return latents.unflatten(0, [frames_BC3HW.shape[0]!, -1]).transpose(1, 2);
  }

  to(place: { device?: Device; dtype?: DType }): void {
    this.#sampler.forget();
    forGpu(this.parts.model.to(place));
    this.parts.predictor.to({ device: place.device });
  }

  state(): ReadonlyMap<string, Tensor> {
    const { model, sizes } = this.parts;
    return publishedState(model, sizes.first_stage_config.params.ddconfig.ch_mult.length);
  }

  /** Four frames spread over the episode, the last included: [z, M, h, w]. */
  #recall(latents_Nzhw: Tensor): Tensor {
    const frames = recalledFrames(latents_Nzhw.shape[0]!, this.parts.memoryFrames);
    const index = tensor(frames, { dtype: "int64", device: latents_Nzhw.device });
    return latents_Nzhw.indexSelect(0, index).transpose(0, 1);
  }

  /** [B, 2z + 7, T, h, w]: see `picture-stack.ts`. */
  #pictures(
    poses: readonly (readonly Pose[])[],
    memory_BzMhw: Tensor,
    slots: readonly number[],
    noise: NoiseSource,
  ): Tensor {
    const { camera, drawing, model } = this.parts;
    const { device, dtype } = memory_BzMhw;
    const [batch = 0, z = 0, , h = 0, w = 0] = memory_BzMhw.shape;
    const maps = poseMaps(
      poses.flatMap((rows) => rows.slice(1)),
      camera,
      this.imageSize,
      drawing,
      device,
    );
    const eps = noise.draw("condition-posterior", slots, [this.chunk, z, h, w]).flatten(0, 1);
    const drawn = this.encode(maps, eps).unflatten(0, [batch, this.chunk]).transpose(1, 2);
    const rays = rayPlanes(camera, this.imageSize, model.first_stage_model.downscale, { device, dtype });
    return pictureStack(memory_BzMhw, drawn, rays);
  }

  /** After the first chunk the first picture is what the autoencoder makes of it, as in the reference. */
  #remember(
    memories: readonly WorldMemory[],
    { poses, motion }: FollowedHands,
    memory_BzMhw: Tensor,
    new_BzChw: Tensor,
  ): WorldMemory[] {
    const { memoryFrames, referenceQuirks } = this.parts;
    const isFirst = memories.map(({ latents }) => latents!.shape[0]! === memoryFrames);
    const renewed = isFirst.some(Boolean)
      ? this.imageTokens(this.decode(memory_BzMhw.narrow(2, 0, 1)).squeeze(1))
      : undefined;
    return memories.map((memory, b) => ({
      latents: cat([memory.latents!, new_BzChw.select(0, b).transpose(0, 1)], 0),
      tokens: (isFirst[b] && renewed ? renewed.select(0, b) : memory.tokens!).clone(),
      pose: tensor([...(referenceQuirks ? poses[b]![0]! : poses[b]!.at(-1)!)], {
        device: memory.pose!.device,
      }),
      motion: motion.select(0, b).to({ device: memory.pose!.device }).clone(),
      firstPose: memory.firstPose!.clone(),
    }));
  }

  #device(): Device {
    return this.parts.model.betas.device;
  }

  #latentShape(): [number, number, number] {
    const [height, width] = this.imageSize;
    const { latentChannels, downscale } = this.parts.model.first_stage_model;
    return [latentChannels, height / downscale, width / downscale];
  }
}
