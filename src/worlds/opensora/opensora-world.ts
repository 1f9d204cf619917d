/**
 * OpenSora as a world: remembers the last four latent frames of an episode, imagines the next eight.
 *
 * A chunk is one rectified-flow sampling of [memory, noise], conditioned on the actions; the last imagined
 * latents become the memory without another encoding, so only the frames that a policy will see are decoded.
 * Actions are normalized by the 1st and 99th percentile of the world's own training data, without clipping.
 *
 * Shapes: B episodes, M memory frames, C new frames, A action size, z latent channels, h w latent positions.
 */
import type { CapturedForward } from "#nn";
import { cat, type Device, type DType, full, scope, stack, type Tensor, tensor } from "#tensor";
import type { AutoencoderKL } from "../autoencoder-kl/autoencoder-kl.ts";
import { capturedSampling, forGpu, replayable } from "../gpu.ts";
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
import type { STDiT3 } from "./model.ts";
import { type FlowStep, rectifiedFlowSteps } from "./schedule.ts";
import type { ActionStatistics } from "./weights.ts";

export interface OpenSoraParts {
  readonly denoiser: STDiT3;
  readonly vae: AutoencoderKL;
  readonly statistics: ActionStatistics;
  readonly imageSize: readonly [number, number];
  readonly chunk: number;
  readonly memoryFrames: number;
  readonly steps: number;
  /** Whether the picture's size bends the timesteps; published worlds are trained so. */
  readonly timestepTransform?: boolean;
  /** Pictures per call of the autoencoder. */
  readonly vaeMicroBatch: number;
  /** Replay captured sampling of small batches on a GPU; on unless false. */
  readonly cudaGraph?: boolean;
}

export class OpenSoraWorld implements World {
  readonly name = "opensora";
  readonly chunk: number;
  readonly actionSize: number;
  readonly imageSize: readonly [number, number];
  readonly keyframes = 0;
  readonly needsPose = false;
  readonly parts: OpenSoraParts;
  readonly #schedule: readonly FlowStep[];
  readonly #captured: CapturedForward;

  constructor(parts: OpenSoraParts) {
    this.parts = parts;
    this.chunk = parts.chunk;
    this.actionSize = parts.statistics.low.length;
    this.imageSize = parts.imageSize;
    this.#schedule = rectifiedFlowSteps(parts.steps, parts.imageSize, parts.timestepTransform ?? true);
    this.#captured = capturedSampling(({ memory, noise, actions }) =>
      this.#denoise(memory!, noise!, actions!),
    );
    forGpu(parts.vae);
  }

  /** The first frame fills the memory; each copy is a sample of its own of the autoencoder's posterior. */
  begin(starts: readonly WorldStart[], slots: readonly number[], noise: NoiseSource): WorldMemory[] {
    const { memoryFrames } = this.parts;
    return scope(() => {
      const eps_BMzhw = noise.draw("posterior", slots, [memoryFrames, ...this.#latentShape()]);
      const frames = stack(starts.map((start) => start.frame)).repeatInterleave(memoryFrames, 0);
      const latents = this.#encode(frames, eps_BMzhw.flatten(0, 1)).unflatten(0, [
        starts.length,
        memoryFrames,
      ]);
      return latents
        .unbind(0)
        .map((latents_Mzhw) => ({ latents: latents_Mzhw.transpose(0, 1).contiguous() }));
    });
  }

  imagine({ memories, actions, slots, noise, watch }: ImagineRequest): Imagined {
    return scope(() => {
      const memory_BzMhw = stack(gatherMemory(memories, "latents"));
      const [z = 0, h = 0, w = 0] = this.#latentShape();
      const start = noise.draw("latents", slots, [z, this.chunk, h, w]).to({ device: memory_BzMhw.device });
      const told_BCA = this.normalize(actions.to({ device: memory_BzMhw.device }));
      const new_BzChw = this.#sample(memory_BzMhw, start, told_BCA, watch);
      const window = cat([memory_BzMhw, new_BzChw], 2);
      const kept = window.narrow(2, this.chunk, this.parts.memoryFrames);
      return {
        memories: kept.unbind(0).map((latents) => ({ latents: latents.clone() })),
        frames: this.decode(new_BzChw),
        latents: new_BzChw,
      };
    });
  }

  encodeFrames(frames_BC3HW: Tensor): Tensor {
    const { vae, vaeMicroBatch } = this.parts;
    const { dtype, device } = vae.quant_conv.weight;
    const rows = frames_BC3HW.flatten(0, 1).to({ dtype, device });
    const latents = inMicroBatches(rows, vaeMicroBatch, (part) => vae.encode(part).float());
    const [batch = 0, frames = 0] = frames_BC3HW.shape;
    return latents.unflatten(0, [batch, frames]).transpose(1, 2);
  }

  /** To [-1, 1] at the data's percentiles; values beyond them stay beyond. */
  normalize(actions_BCA: Tensor): Tensor {
    const { low, high } = this.parts.statistics;
    const place = { device: actions_BCA.device };
    const span = tensor(
      high.map((top, i) => top - low[i]!),
      place,
    );
    return actions_BCA
      .sub(tensor([...low], place))
      .mul(2)
      .div(span)
      .sub(1);
  }

  /** [B, z, T, h, w] to [B, T, 3, H, W]. */
  decode(latents_BzThw: Tensor): Tensor {
    const [batch = 0, , frames = 0] = latents_BzThw.shape;
    const rows = latents_BzThw.transpose(1, 2).flatten(0, 1);
    const { vae, vaeMicroBatch } = this.parts;
    const dtype = vae.post_quant_conv.weight.dtype;
    const images = inMicroBatches(rows, vaeMicroBatch, (part) => vae.decode(part.to({ dtype })).float());
    return images.unflatten(0, [batch, frames]);
  }

  to(place: { device?: Device; dtype?: DType }): void {
    this.#captured.clear();
    this.parts.denoiser.to(place);
    forGpu(this.parts.vae.to(place));
  }

  state(): ReadonlyMap<string, Tensor> {
    return this.parts.denoiser.namedParameters();
  }

  /** Small batches are replayed from a graph; whoever watches the steps sees them one by one. */
  #sample(memory: Tensor, noise: Tensor, actions: Tensor, watch?: ImagineRequest["watch"]): Tensor {
    const wanted = this.parts.cudaGraph !== false && watch === undefined;
    if (!wanted || !replayable(memory)) return this.#denoise(memory, noise, actions, watch);
    return this.#captured.run({ memory, noise, actions }).latents!.clone();
  }

  #denoise(
    memory_BzMhw: Tensor,
    noise_BzChw: Tensor,
    actions_BCA: Tensor,
    watch?: ImagineRequest["watch"],
  ): Tensor {
    const { denoiser } = this.parts;
    const remembered = denoiser.remember(memory_BzMhw);
    let x = noise_BzChw;
    for (const [step, { timestep, delta }] of this.#schedule.entries()) {
      x = scope(() => {
        const t_B = full([x.shape[0]!], timestep, { device: x.device });
        const velocity = denoiser.continue(x, t_B, actions_BCA, remembered).narrow(1, 0, x.shape[1]!);
        return x.add(velocity.mul(delta));
      });
      watch?.(step, x);
    }
    return x;
  }

  #encode(images_NCHW: Tensor, eps_NChw: Tensor): Tensor {
    const { vae, vaeMicroBatch } = this.parts;
    const { dtype, device } = vae.quant_conv.weight;
    return inMicroBatches(images_NCHW, vaeMicroBatch, (part, start) => {
      const eps = eps_NChw.narrow(0, start, part.shape[0]!);
      return vae.encode(part.to({ dtype, device }), eps).float();
    });
  }

  #latentShape(): [number, number, number] {
    const [height, width] = this.imageSize;
    const { latentChannels, downscale } = this.parts.vae;
    return [latentChannels, height / downscale, width / downscale];
  }
}
