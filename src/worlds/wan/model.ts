/**
 * Wan 2.2's diffusion transformer, conditioned on actions instead of text.
 *
 * Wan team 2025, https://arxiv.org/abs/2503.20314; the action branch is that of RLinf's published worlds.
 * Actions enter twice: each as a token of the cross-attention's memory, and four at a time, added to the time
 * embedding of the latent frame that they produce. Condition frames are told timestep 0.
 *
 * Shapes: B videos, z latent channels, F latent frames, h w latent positions, S patches of a frame, D width,
 * N pictures = actions (4·F − 3), A action size.
 */

import { fusedModulatedNorm } from "#kernels";
import { Conv3d, Linear, Module, type ModuleOptions, parameter } from "#nn";
import { aten, cat, type Device, scope, type Tensor } from "#tensor";
import { epsilon, plainNorm } from "../modulation.ts";
import { type Memory, WanBlock } from "./blocks.ts";
import { type RotaryTable, rotaryTable, timeWaves } from "./rotary.ts";
import type { WanSizes } from "./sizes.ts";

/** Latent frames that hold the condition pictures. */
export const conditionLatents = 2;
/** Pictures (and so actions) per latent frame; the first latent frame holds one picture alone. */
export const picturesPerLatent = 4;

type Mlp = { readonly "0": Linear; readonly "2": Linear };

class Head extends Module {
  readonly modulation: Tensor;
  readonly head: Linear;

  constructor(width: number, outputs: number, options: ModuleOptions) {
    super();
    this.modulation = parameter([1, 2, width], options);
    this.head = new Linear(width, outputs, options);
  }

  forward(x_BFSD: Tensor, time_BFD: Tensor): Tensor {
    const table_BF2D = this.modulation.add(time_BFD.unsqueeze(2));
    const rows = { table_GKD: table_BF2D.flatten(0, 1), shift: 0, scale: 1 };
    const fused = fusedModulatedNorm(x_BFSD, rows, epsilon);
    if (fused) return this.head.forward(fused);
    const [shift, scale] = table_BF2D.unsqueeze(3).unbind(2);
    return this.head.forward(plainNorm(x_BFSD).mul(scale!.add(1)).add(shift!));
  }
}

/** What the actions of a window say, the same in all of its denoising steps. */
export interface Plan {
  readonly memories: readonly Memory[]; // of the cross-attention, per block
  readonly frames_BFD: Tensor; // added to each latent frame's time
}

export class WanDiT extends Module {
  readonly action_mlp1: Mlp;
  readonly action_mlp2: Mlp;
  readonly patch_embedding: Conv3d;
  readonly time_embedding: Mlp;
  readonly time_projection: { readonly "1": Linear };
  readonly blocks: readonly WanBlock[];
  readonly head: Head;
  readonly #sizes: WanSizes;

  constructor(sizes: WanSizes, options: ModuleOptions = {}) {
    super();
    const { dim: width, patch_size: patch, action_dim: action, num_heads: heads, ffn_dim: hidden } = sizes;
    const mlp = (inputs: number, middle: number): Mlp => ({
      "0": new Linear(inputs, middle, options),
      "2": new Linear(middle, width, options),
    });
    this.action_mlp1 = mlp(action, width);
    this.action_mlp2 = mlp(picturesPerLatent * action, 4 * width);
    this.patch_embedding = new Conv3d(sizes.z_dim, width, { kernel: patch, stride: patch, ...options });
    this.time_embedding = mlp(sizes.freq_dim, width);
    this.time_projection = { "1": new Linear(width, 6 * width, options) };
    this.blocks = Array.from(
      { length: sizes.num_layers },
      () => new WanBlock({ width, heads, hidden }, options),
    );
    this.head = new Head(width, patch[0]! * patch[1]! * patch[2]! * sizes.z_dim, options);
    this.#sizes = sizes;
  }

  /** Velocity of the whole window, [B, z, F, h, w], in the model's dtype. `timestep` has one element, or one per video. */
  forward(latents_BzFhw: Tensor, timestep: Tensor, actions_BNA: Tensor): Tensor {
    return this.step(latents_BzFhw, timestep, this.plan(actions_BNA));
  }

  plan(actions_BNA: Tensor): Plan {
    const { dtype, device } = this.patch_embedding.weight;
    const actions = actions_BNA.to({ dtype, device });
    const context_BND = this.#run(this.action_mlp1, actions, "gelu");
    const first = actions.narrow(1, 0, 1).expand([-1, picturesPerLatent - 1, -1]);
    const grouped = cat([first, actions], 1).unflatten(1, [-1, picturesPerLatent]).flatten(2);
    return {
      memories: this.blocks.map((block) => block.cross_attn.remember(context_BND)),
      frames_BFD: this.#run(this.action_mlp2, grouped, "silu"),
    };
  }

  step(latents_BzFhw: Tensor, timestep: Tensor, { memories, frames_BFD }: Plan): Tensor {
    const { dtype, device } = this.patch_embedding.weight;
    const patches = this.patch_embedding.forward(latents_BzFhw.to({ dtype, device }));
    const [, width = 0, frames = 0, rows = 0, columns = 0] = patches.shape;
    const time_BFD = frames_BFD.add(this.#time(timestep.to({ dtype, device }), frames));
    const time_BF6D = this.time_projection["1"].forward(aten.silu(time_BFD)).unflatten(2, [6, width]);
    const rotary = this.#rotary([frames, rows, columns], device);

    let x_BFSD = patches.flatten(3).permute([0, 2, 3, 1]).contiguous();
    for (const [i, block] of this.blocks.entries()) {
      x_BFSD = scope(() => block.forward(x_BFSD, time_BF6D, memories[i]!, rotary));
    }
    return this.#unpatchify(this.head.forward(x_BFSD, time_BFD), [frames, rows, columns]);
  }

  #rotary(grid: readonly [number, number, number], device: Device): RotaryTable {
    return scope(() => rotaryTable(grid, this.#sizes.dim / this.#sizes.num_heads, device));
  }

  /** [B or 1, F, D]: the time of each latent frame, 0 for the condition. */
  #time(timestep: Tensor, frames: number): Tensor {
    const times = cat([timestep.narrow(0, 0, 1).mul(0), timestep], 0);
    const embedded = this.#run(this.time_embedding, timeWaves(times, this.#sizes.freq_dim), "silu");
    const given = timestep.shape[0]!;
    const [clean, noisy] = [embedded.narrow(0, 0, 1).expand([given, -1]), embedded.narrow(0, 1, given)];
    const perFrame = Array.from({ length: frames }, (_, frame) => (frame < conditionLatents ? clean : noisy));
    return aten.stack(perFrame, 1);
  }

  #run(mlp: Mlp, x: Tensor, activation: "gelu" | "silu"): Tensor {
    return mlp["2"].forward(aten[activation](mlp["0"].forward(x)));
  }

  #unpatchify(x_BFSP: Tensor, [frames, rows, columns]: readonly [number, number, number]): Tensor {
    const [deep, high, wide] = this.#sizes.patch_size as [number, number, number];
    const batch = x_BFSP.shape[0]!;
    return x_BFSP
      .reshape([batch, frames, rows, columns, deep, high, wide, this.#sizes.z_dim])
      .permute([0, 7, 1, 4, 2, 5, 3, 6])
      .reshape([batch, this.#sizes.z_dim, frames * deep, rows * high, columns * wide]);
  }
}
