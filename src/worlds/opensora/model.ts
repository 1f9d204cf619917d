/**
 * The action-conditioned STDiT3 denoiser: predicts the velocity of noisy latents from time and actions.
 *
 * Zheng et al. 2024, Open-Sora 1.2, https://arxiv.org/abs/2412.20404, with the action embedding of WMPO.
 * Condition frames enter clean and are modulated as at the constant timestep 15. Text, frame-rate and
 * cross-attention weights exist in the files and do nothing; they are kept so that files survive a round trip.
 *
 * Shapes: B videos, T frames (memory then new), C latent channels, h w latent positions, S patches per
 * frame, D model width, A action size.
 */

import { fusedModulatedNorm } from "#kernels";
import { Conv3d, Linear, Module, type ModuleOptions, parameter, silu } from "#nn";
import { cat, full, scope, type Tensor, where } from "#tensor";
import { epsilon, plainNorm } from "../modulation.ts";
import {
  afterMemory,
  type FrameRotary,
  type Looking,
  overSpace,
  overTime,
  type Remembered,
} from "./attention.ts";
import { type BlockModulation, STDiT3Block } from "./blocks.ts";
import { ActionEmbedder, CaptionEmbedder, EmbeddingMlp, sinusoids, TimeRotary } from "./embedders.ts";
import { throughBlocks } from "./learning.ts";
import { spatialPositions, temporalRotary } from "./rotary.ts";
import type { STDiT3Sizes } from "./sizes.ts";

/** Condition frames are shown to the network as almost clean. */
const cleanTimestep = 15;

/** One run through all blocks: what they are told, and how the temporal ones look around. */
interface Pass {
  readonly spatial: BlockModulation;
  readonly temporal: BlockModulation;
  look(block: number): Looking;
  readonly left?: Remembered[];
}

class FinalLayer extends Module {
  readonly scale_shift_table: Tensor;
  readonly linear: Linear;

  constructor(width: number, outputs: number, options: ModuleOptions) {
    super();
    this.scale_shift_table = parameter([2, width], options);
    this.linear = new Linear(width, outputs, options);
  }

  /**
   * Condition frames are normalized twice, as in the reference, which overwrites x before its second branch.
   * Their output is thrown away; it is computed so that whole outputs can be compared.
   */
  forward(x_BTSD: Tensor, time_BD: Tensor, mixed?: { clean_BD: Tensor; noisy_BT11: Tensor }): Tensor {
    const seen = this.#modulate(x_BTSD, time_BD);
    if (!mixed) return this.linear.forward(seen);
    return this.linear.forward(where(mixed.noisy_BT11, seen, this.#modulate(seen, mixed.clean_BD)));
  }

  /** Shift and scale of every frame, three times over: [B, T, 6, D], as a block's table. */
  table(time_BD: Tensor, frames: number): Tensor {
    return this.scale_shift_table.add(time_BD.unsqueeze(1)).unsqueeze(1).repeat([1, frames, 3, 1]);
  }

  #modulate(x_BTSD: Tensor, time_BD: Tensor): Tensor {
    const table_B2D = this.scale_shift_table.add(time_BD.unsqueeze(1));
    const fused = fusedModulatedNorm(x_BTSD, { table_GKD: table_B2D, shift: 0, scale: 1 }, epsilon);
    if (fused) return fused;
    const [shift, scale] = table_B2D.unsqueeze(1).unsqueeze(1).unbind(3);
    return plainNorm(x_BTSD).mul(scale!.add(1)).add(shift!);
  }
}

export class STDiT3 extends Module {
  readonly rope: TimeRotary;
  readonly x_embedder: { readonly proj: Conv3d };
  readonly t_embedder: EmbeddingMlp;
  readonly action_embedder: ActionEmbedder;
  readonly fps_embedder?: EmbeddingMlp;
  readonly t_block: { readonly "1": Linear };
  readonly y_embedder?: CaptionEmbedder;
  readonly spatial_blocks: readonly STDiT3Block[];
  readonly temporal_blocks: readonly STDiT3Block[];
  readonly final_layer: FinalLayer;
  readonly #sizes: STDiT3Sizes;

  constructor(sizes: STDiT3Sizes, options: ModuleOptions = {}) {
    super();
    const { hidden_size: width, num_heads: heads, patch_size: patch, text_weights: text } = sizes;
    const blocks = (): STDiT3Block[] =>
      Array.from(
        { length: sizes.depth },
        () => new STDiT3Block({ width, heads, hidden: width * sizes.mlp_ratio, text }, options),
      );
    this.rope = new TimeRotary(width / heads, options);
    this.x_embedder = {
      proj: new Conv3d(sizes.in_channels, width, { kernel: patch, stride: patch, ...options }),
    };
    this.t_embedder = new EmbeddingMlp(sinusoids, width, options);
    this.action_embedder = new ActionEmbedder(sizes, options);
    if (text) this.fps_embedder = new EmbeddingMlp(sinusoids, width, options);
    this.t_block = { "1": new Linear(width, 6 * width, options) };
    if (text) this.y_embedder = new CaptionEmbedder(sizes, options);
    this.spatial_blocks = blocks();
    this.temporal_blocks = blocks();
    this.final_layer = new FinalLayer(
      width,
      patch[0]! * patch[1]! * patch[2]! * outputChannels(sizes),
      options,
    );
    this.#sizes = sizes;
  }

  /** Velocity (and an unused variance, where the file has one) of every frame, float32 [B, C', T, h, w]. */
  forward(latents_BCThw: Tensor, timestep_B: Tensor, actions_BCA: Tensor, noisy_BT: Tensor): Tensor {
    const noisy = noisy_BT.unsqueeze(2).unsqueeze(3);
    const time_BD = this.t_embedder.forward(timestep_B);
    const clean_BD = this.#cleanTime(timestep_B.shape[0]!);
    const mixed = { clean: this.#project(clean_BD.unsqueeze(1)), noisy };
    const told = time_BD.unsqueeze(1).add(this.action_embedder.forward(actions_BCA));
    const rotary = this.#rotary(latents_BCThw.shape[2]!);
    const x_BTSD = this.#run(latents_BCThw, {
      spatial: { time: this.#project(told), mixed },
      temporal: { time: this.#project(time_BD.unsqueeze(1)), mixed },
      look: () => overTime(rotary),
    });
    const patches = this.final_layer.forward(x_BTSD, time_BD, { clean_BD, noisy_BT11: noisy });
    return this.#unpatchify(patches, latents_BCThw.shape).float();
  }

  /**
   * Velocity of the frames after `memory` ones, as `forward` gives it, for learning: what no loss reads is not computed, and
   * what all blocks are told is put together once.
   */
  learn(latents_BCThw: Tensor, timestep_B: Tensor, actions_BCA: Tensor, memory: number): Tensor {
    const [videos = 0, , frames = 0, height = 0, width = 0] = latents_BCThw.shape;
    const fresh = frames - memory;
    const time_BD = this.t_embedder.forward(timestep_B);
    const clean = this.#project(this.#cleanTime(1).unsqueeze(1)).expand([videos, memory, -1]);
    const told = (now: Tensor): Tensor =>
      cat([clean, this.#project(now).expand([videos, fresh, -1])], 1).unflatten(-1, [6, -1]);
    const acted = time_BD.unsqueeze(1).add(this.action_embedder.embed(actions_BCA));
    const [space_BT6D, time_BT6D] = [told(acted), told(time_BD.unsqueeze(1))];
    const look = overTime(this.#rotary(frames));
    const patches_BTSD = this.#embedPatches(latents_BCThw.to({ dtype: time_BD.dtype }));
    const lectures = this.spatial_blocks.flatMap((block, i) => [
      { block, told_BT6D: space_BT6D, look: overSpace },
      { block: this.temporal_blocks[i]!, told_BT6D: time_BT6D, look },
    ]);
    const shown = throughBlocks(patches_BTSD, lectures, this.final_layer.table(time_BD, frames));
    const patches = this.final_layer.linear.forward(shown.narrow(1, memory, fresh));
    return this.#unpatchify(patches, [videos, 0, fresh, height, width]).float();
  }

  /** What memory frames, [B, C, M, h, w], mean for the frames after them: one entry per temporal block. */
  remember(memory_BCMhw: Tensor): Remembered[] {
    const left: Remembered[] = [];
    scope(() => {
      const clean: BlockModulation = {
        time: this.#project(this.#cleanTime(memory_BCMhw.shape[0]!).unsqueeze(1)),
      };
      const rotary = this.#rotary(memory_BCMhw.shape[2]!);
      this.#run(memory_BCMhw, { spatial: clean, temporal: clean, look: () => overTime(rotary, left), left });
      return left;
    });
    return left;
  }

  /** Velocity of new frames after remembered ones: `forward`'s numbers for those frames. */
  continue(
    latents_BCThw: Tensor,
    timestep_B: Tensor,
    actions_BCA: Tensor,
    memory: readonly Remembered[],
  ): Tensor {
    const time_BD = this.t_embedder.forward(timestep_B);
    const told = time_BD.unsqueeze(1).add(this.action_embedder.embed(actions_BCA));
    const [before, now] = [memory[0]!.shape[1]!, latents_BCThw.shape[2]!];
    const rotary = { ...this.#rotary(before + now), first: before };
    const x_BTSD = this.#run(latents_BCThw, {
      spatial: { time: this.#project(told) },
      temporal: { time: this.#project(time_BD.unsqueeze(1)) },
      look: (block) => afterMemory(rotary, memory[block]!),
    });
    return this.#unpatchify(this.final_layer.forward(x_BTSD, time_BD), latents_BCThw.shape).float();
  }

  #run(latents_BCThw: Tensor, { spatial, temporal, look, left }: Pass): Tensor {
    let x_BTSD = this.#embedPatches(latents_BCThw.to({ dtype: this.t_block["1"].weight.dtype }));
    for (const [i, block] of this.spatial_blocks.entries()) {
      x_BTSD = scope(() => block.forward(x_BTSD, spatial, overSpace));
      // What is left for later frames must outlive the block, so it leaves the scope with its result.
      [x_BTSD] = scope((): [Tensor, typeof left] => [
        this.temporal_blocks[i]!.forward(x_BTSD, temporal, look(i)),
        left,
      ]);
    }
    return x_BTSD;
  }

  #rotary(frames: number): FrameRotary {
    return { ...temporalRotary(this.rope.freqs, frames), first: 0 };
  }

  #cleanTime(batch: number): Tensor {
    return this.t_embedder.forward(full([batch], cleanTimestep, { device: this.t_block["1"].weight.device }));
  }

  #project(t: Tensor): Tensor {
    return this.t_block["1"].forward(silu(t));
  }

  #embedPatches(latents_BCThw: Tensor): Tensor {
    const x_BDTRK = this.x_embedder.proj.forward(latents_BCThw);
    const positions = this.#positions(latents_BCThw.shape);
    return x_BDTRK.flatten(3).permute([0, 2, 3, 1]).add(positions).contiguous();
  }

  /** [1, 1, S, D] */
  #positions([, , , height = 0, width = 0]: readonly number[]): Tensor {
    const { patch_size: patch, vae_downscale, input_sq_size, hidden_size } = this.#sizes;
    const scale = (vae_downscale * Math.sqrt(height * width)) / input_sq_size;
    const grid = { rows: height / patch[1]!, columns: width / patch[2]!, scale, width: hidden_size };
    return spatialPositions(grid, this.t_block["1"].weight).unsqueeze(1);
  }

  #unpatchify(
    patches_BTSP: Tensor,
    [batch = 0, , frames = 0, height = 0, width = 0]: readonly number[],
  ): Tensor {
    const [deep, high, wide] = this.#sizes.patch_size as [number, number, number];
    const grid = [frames / deep, height / high, width / wide];
    return patches_BTSP
      .reshape([batch, ...grid, deep, high, wide, outputChannels(this.#sizes)])
      .permute([0, 7, 1, 4, 2, 5, 3, 6])
      .reshape([batch, outputChannels(this.#sizes), frames, height, width]);
  }
}

const outputChannels = (sizes: STDiT3Sizes): number => sizes.in_channels * (sizes.pred_sigma ? 2 : 1);
