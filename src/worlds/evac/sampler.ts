/**
 * From noise to new frames: DDIM on EVAC's schedule, given the memory and what the world tells of it.
 *
 * Song et al. 2020, https://arxiv.org/abs/2010.02502. Small batches replay a captured step: they spend more time on launching kernels
 * than on running them.
 *
 * Shapes: B episodes, M memory frames (4), C new ones (8), T = M + C, z latent channels, h w latent positions.
 */
import { CapturedForward } from "#nn";
import { cat, full, scope, type Tensor } from "#tensor";
import { mostGraphs, replayable } from "../gpu.ts";
import type { ImagineRequest } from "../world.ts";
import type { EvacModel } from "./model.ts";
import { type DdimStep, ddimSteps, noiseTables } from "./schedule.ts";
import type { EvacSizes } from "./sizes.ts";

export interface SamplerParts {
  readonly model: EvacModel;
  readonly sizes: EvacSizes;
  readonly memoryFrames: number;
  readonly steps: number;
  readonly eta: number;
  readonly fps: number;
  readonly domain: number;
  /** Replay captured denoising steps of small batches on a GPU; on unless false. */
  readonly cudaGraph?: boolean;
}

/** What the denoiser is told: a picture stack beside the noise, and tokens. */
export interface EvacConditions {
  readonly pictures: Tensor; // [B, 2z + 7, T, h, w]
  readonly image: Tensor; // [B, Q, width]
  readonly actions: Tensor; // [B, Q', width]
}

export class DdimSampler {
  readonly #parts: SamplerParts;
  readonly #schedule: readonly DdimStep[];
  readonly #captured: CapturedForward;

  constructor(parts: SamplerParts) {
    this.#parts = parts;
    this.#schedule = ddimSteps(noiseTables(parts.sizes), parts.steps, parts.eta);
    this.#captured = new CapturedForward(
      ({ window, timestep, pictures, image, actions }) => ({
        velocity: this.#denoise(window!, timestep!, {
          pictures: pictures!,
          image: image!,
          actions: actions!,
        }),
      }),
      { most: mostGraphs },
    );
  }

  /** New frames, [B, z, C, h, w]. */
  sample(
    memory_BzMhw: Tensor,
    conditions: EvacConditions,
    { slots, noise, watch }: Pick<ImagineRequest, "slots" | "noise" | "watch">,
  ): Tensor {
    const { device, dtype } = memory_BzMhw;
    const [, z = 0, , h = 0, w = 0] = memory_BzMhw.shape;
    const shape = [z, this.#parts.sizes.chunk, h, w];
    const fresh = (purpose: "latents" | "step"): Tensor =>
      noise.draw(purpose, slots, shape).to({ device, dtype });
    let x = fresh("latents");
    for (const [index, step] of this.#schedule.entries()) {
      x = scope(() => {
        const v = this.#velocity(cat([memory_BzMhw, x], 2), step.timestep, conditions);
        const clean = x.mul(step.signal).sub(v.mul(step.noise)).mul(step.rescale);
        const direction = v.mul(step.signal).add(x.mul(step.noise));
        const next = clean.mul(step.previousSignal).add(direction.mul(step.direction));
        return step.sigma === 0 ? next : next.add(fresh("step").mul(step.sigma));
      });
      watch?.(index, x);
    }
    return x;
  }

  /** Captured steps hold the weights' places: to be called before these move. */
  forget(): void {
    this.#captured.clear();
  }

  /** Of the new frames only, float32. */
  #velocity(window_BzThw: Tensor, step: number, conditions: EvacConditions): Tensor {
    const { model, sizes, memoryFrames, cudaGraph } = this.#parts;
    const window = window_BzThw.to({ dtype: model.cond_stage_model.latents.dtype });
    const timestep = full([window.shape[0]!], step, { device: window.device });
    const velocity =
      cudaGraph !== false && replayable(window)
        ? this.#captured.run({ window, timestep, ...conditions }).velocity!
        : this.#denoise(window, timestep, conditions);
    return velocity.narrow(2, memoryFrames, sizes.chunk).float();
  }

  /** Of the whole window. */
  #denoise(window_BzThw: Tensor, timestep: Tensor, { pictures, image, actions }: EvacConditions): Tensor {
    const { model, fps, domain } = this.#parts;
    const { device } = window_BzThw;
    const batch = [window_BzThw.shape[0]!];
    return model.model.diffusion_model.forward(cat([window_BzThw, pictures], 1), {
      image,
      actions,
      timestep,
      fps: full(batch, fps, { device }),
      domain: full(batch, domain, { dtype: "int64", device }),
    });
  }
}
