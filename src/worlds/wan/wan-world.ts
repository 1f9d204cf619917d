/**
 * Wan as a world: remembers an episode's first picture, its last four, and the actions that led to them.
 *
 * A chunk encodes those five pictures, samples a window of thirteen by flow matching with the condition
 * re-imposed after every step, and decodes it; the last eight pictures are new. Pictures pass through bytes on
 * the way in and out, truncated as in the reference. Actions enter as the simulator gets them, not normalized.
 *
 * Shapes: B episodes, M memory pictures (5), C new ones (8), N = M + C, A action size, z latent channels,
 * F latent frames, h w latent positions.
 */
import type { CapturedForward } from "#nn";
import { cat, type Device, type DType, full, scope, stack, type Tensor, zeros } from "#tensor";
import { capturedSampling, forGpu, replayable } from "../gpu.ts";
import { inMicroBatches } from "../micro-batch.ts";
import { toBytes } from "../pixels.ts";
import {
  gatherMemory,
  type Imagined,
  type ImagineRequest,
  type World,
  type WorldMemory,
  type WorldStart,
} from "../world.ts";
import { conditionLatents, picturesPerLatent, type WanDiT } from "./model.ts";
import { type FlowLevel, flowLevels } from "./schedule.ts";
import { downscaleOf, type WanSizes } from "./sizes.ts";
import type { WanVAE } from "./vae.ts";

export interface WanParts {
  readonly denoiser: WanDiT;
  readonly vae: WanVAE;
  readonly sizes: WanSizes;
  readonly imageSize: readonly [number, number];
  readonly chunk: number;
  readonly memoryFrames: number;
  readonly steps: number;
  /** Whether the memory begins with an open gripper (−1) rather than 0. */
  readonly gripperOpen: boolean;
  /** Videos per call of the autoencoder, whose activations outweigh everything else. */
  readonly vaeMicroBatch: number;
  /** Replay captured sampling of small batches on a GPU; on unless false. */
  readonly cudaGraph?: boolean;
}

export class WanWorld implements World {
  readonly name = "wan";
  readonly chunk: number;
  readonly actionSize: number;
  readonly imageSize: readonly [number, number];
  readonly keyframes: number;
  readonly needsPose = false;
  readonly parts: WanParts;
  readonly #levels: readonly FlowLevel[];
  readonly #captured: CapturedForward;

  constructor(parts: WanParts) {
    this.parts = parts;
    this.chunk = parts.chunk;
    this.actionSize = parts.sizes.action_dim;
    this.imageSize = parts.imageSize;
    this.keyframes = parts.memoryFrames - 1;
    this.#levels = flowLevels(parts.steps, parts.sizes.sigma_shift);
    this.#captured = capturedSampling(({ condition, actions, noise }) =>
      this.#denoise(condition!, actions!, noise!),
    );
    forGpu(parts.vae);
  }

  begin(starts: readonly WorldStart[]): WorldMemory[] {
    return starts.map(({ frame, keyframes }) =>
      scope(() => {
        const first = frame.unsqueeze(0);
        const rest = keyframes?.frames ?? first.expand([this.keyframes, -1, -1, -1]);
        const idle = this.#idleActions();
        const led = keyframes ? cat([idle.narrow(0, 0, 1), keyframes.actions.float()], 0) : idle;
        const device = this.#device();
        return { frames: cat([first, rest], 0).to({ device }), actions: led.to({ device }) };
      }),
    );
  }

  imagine({ memories, actions, slots, noise, watch }: ImagineRequest): Imagined {
    const { memoryFrames } = this.parts;
    return scope(() => {
      const seen_BM3HW = stack(gatherMemory(memories, "frames"));
      const done_BMA = stack(gatherMemory(memories, "actions"));
      const actions_BNA = cat([done_BMA, actions.to({ device: done_BMA.device })], 1);
      const condition = this.#encode(seen_BM3HW);
      const latents = this.#sample(
        condition,
        actions_BNA,
        noise.draw("latents", slots, this.#latentShape()),
        watch,
      );
      const pictures = this.decode(latents).to({ device: seen_BM3HW.device }); // elsewhere only after a move
      const frames = pictures.narrow(1, memoryFrames, this.chunk);
      return { frames, latents, memories: this.#remember(seen_BM3HW, done_BMA, frames, actions_BNA) };
    });
  }

  /** The first picture and action of an episode stay; the last four move on. */
  #remember(seen_BM3HW: Tensor, done_BMA: Tensor, frames_BC3HW: Tensor, actions_BNA: Tensor): WorldMemory[] {
    const last = (x: Tensor): Tensor => x.narrow(1, x.shape[1]! - this.keyframes, this.keyframes);
    const frames = cat([seen_BM3HW.narrow(1, 0, 1), last(frames_BC3HW)], 1).unbind(0);
    const actions = cat([done_BMA.narrow(1, 0, 1), last(actions_BNA)], 1).unbind(0);
    return frames.map((rows, b) => ({ frames: rows.clone(), actions: actions[b]!.clone() }));
  }

  /** [B, z, F, h, w] to [B, N, 3, H, W], every value one of 256 levels. */
  decode(latents_BzFhw: Tensor): Tensor {
    const { vae, vaeMicroBatch } = this.parts;
    const { dtype, device } = vae.conv2.weight;
    const video = inMicroBatches(latents_BzFhw.to({ dtype, device }), vaeMicroBatch, (part) =>
      vae.decode(part).float(),
    );
    const bytes = video.add(1).mul(127.5).clamp(0, 255).to({ dtype: "uint8" });
    return bytes.float().div(255).mul(2).sub(1).transpose(1, 2);
  }

  to(place: { device?: Device; dtype?: DType }): void {
    this.#captured.clear();
    this.parts.denoiser.to(place);
    forGpu(this.parts.vae.to(place));
  }

  state(): ReadonlyMap<string, Tensor> {
    return this.parts.denoiser.namedParameters();
  }

  #encode(frames_BM3HW: Tensor): Tensor {
    const { vae, vaeMicroBatch } = this.parts;
    const { dtype, device } = vae.conv1.weight;
    const video = toBytes(frames_BM3HW)
      .to({ device })
      .to({ dtype })
      .mul(2 / 255)
      .sub(1)
      .transpose(1, 2);
    return inMicroBatches(video, vaeMicroBatch, (part) => vae.encode(part));
  }

  /** Small batches are replayed from a graph; whoever watches the steps sees them one by one. */
  #sample(condition: Tensor, actions_BNA: Tensor, drawn: Tensor, watch?: ImagineRequest["watch"]): Tensor {
    const { dtype, device } = condition;
    const [noise, actions] = [drawn.to({ dtype, device }), actions_BNA.to({ device })];
    const wanted = this.parts.cudaGraph !== false && watch === undefined;
    if (!wanted || !replayable(condition)) return this.#denoise(condition, actions, noise, watch);
    return this.#captured.run({ condition, actions, noise }).latents!.clone();
  }

  #denoise(condition: Tensor, actions_BNA: Tensor, noise: Tensor, watch?: ImagineRequest["watch"]): Tensor {
    const { dtype, device } = condition;
    const { denoiser } = this.parts;
    const frames = noise.shape[2]! - conditionLatents;
    const impose = (x: Tensor): Tensor => cat([condition, x.narrow(2, conditionLatents, frames)], 2);
    const plan = denoiser.plan(actions_BNA);
    let x = impose(noise);
    for (const [step, { timestep, delta }] of this.#levels.entries()) {
      x = scope(() => {
        const velocity = denoiser.step(x, full([1], timestep, { dtype, device }), plan);
        const moved = x.add(velocity.mul(delta));
        watch?.(step, moved);
        return impose(moved);
      });
    }
    return x;
  }

  #device(): Device {
    return this.parts.vae.conv1.weight.device;
  }

  #idleActions(): Tensor {
    const { memoryFrames, gripperOpen } = this.parts;
    const still = zeros([memoryFrames, this.actionSize - 1]);
    return cat([still, full([memoryFrames, 1], gripperOpen ? -1 : 0)], 1);
  }

  #latentShape(): number[] {
    const [height, width] = this.imageSize;
    const frames = 1 + (this.parts.memoryFrames + this.chunk - 1) / picturesPerLatent;
    const downscale = downscaleOf(this.parts.sizes);
    return [this.parts.sizes.z_dim, frames, height / downscale, width / downscale];
  }
}
