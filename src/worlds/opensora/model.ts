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
import {
  Conv3d,
  Embedding,
  Linear,
  Module,
  type ModuleOptions,
  parameter,
  silu,
  timestepEmbedding,
} from "#nn";
import { cat, full, scope, type Tensor, where } from "#tensor";
import { type BlockModulation, plainNorm, STDiT3Block } from "./blocks.ts";
import { spatialPositions, temporalRotary } from "./rotary.ts";
import type { STDiT3Sizes } from "./sizes.ts";

/** Condition frames are shown to the network as almost clean. */
const cleanTimestep = 15;
const sinusoids = 256;

/** Linear, SiLU, Linear under the checkpoint's indices. */
class EmbeddingMlp extends Module {
  readonly mlp: { readonly "0": Linear; readonly "2": Linear };

  constructor(inputs: number, width: number, options: ModuleOptions) {
    super();
    this.mlp = { "0": new Linear(inputs, width, options), "2": new Linear(width, width, options) };
  }

  forward(t_B: Tensor): Tensor {
    const waves = timestepEmbedding(t_B, sinusoids).to({ dtype: this.mlp["0"].weight.dtype });
    return this.mlp["2"].forward(silu(this.mlp["0"].forward(waves)));
  }
}

class ActionEmbedder extends Module {
  readonly fc: { readonly "0": Linear; readonly "2": Linear };
  readonly none_action: Embedding;
  readonly #padding: number;

  constructor(sizes: STDiT3Sizes, options: ModuleOptions) {
    super();
    const hidden = sizes.hidden_size * sizes.mlp_ratio;
    this.fc = {
      "0": new Linear(sizes.action_dim, hidden, options),
      "2": new Linear(hidden, sizes.hidden_size, options),
    };
    this.none_action = new Embedding(1, sizes.hidden_size, options);
    this.#padding = sizes.pad_action_num;
  }

  /** [B, T, D]: a learnt "no action" for every memory frame, then one embedding per action. */
  forward(actions_BCA: Tensor): Tensor {
    const actions = actions_BCA.to({ dtype: this.none_action.weight.dtype });
    const embedded = this.fc["2"].forward(silu(this.fc["0"].forward(actions)));
    const [batch = 0, , width = 0] = embedded.shape;
    return cat([this.none_action.weight.unsqueeze(0).expand([batch, this.#padding, width]), embedded], 1);
  }
}

/** In the files, never run: the caption embedding of the text-to-video model. */
class CaptionEmbedder extends Module {
  readonly y_embedding: Tensor;
  readonly y_proj: { readonly fc1: Linear; readonly fc2: Linear };

  constructor(sizes: STDiT3Sizes, options: ModuleOptions) {
    super();
    this.y_embedding = parameter([sizes.model_max_length, sizes.caption_channels], options);
    this.y_proj = {
      fc1: new Linear(sizes.caption_channels, sizes.hidden_size, options),
      fc2: new Linear(sizes.hidden_size, sizes.hidden_size, options),
    };
  }
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
   * Condition frames are normalised twice, as in the reference, which overwrites x before its second branch.
   * Their output is thrown away; it is computed so that whole outputs can be compared.
   */
  forward(x_BTSD: Tensor, time_BD: Tensor, clean_BD: Tensor, noisy_BT11: Tensor): Tensor {
    const seen = this.#modulate(x_BTSD, time_BD);
    return this.linear.forward(where(noisy_BT11, seen, this.#modulate(seen, clean_BD)));
  }

  #modulate(x_BTSD: Tensor, time_BD: Tensor): Tensor {
    const [shift, scale] = this.scale_shift_table
      .add(time_BD.unsqueeze(1))
      .unsqueeze(1)
      .unsqueeze(1)
      .unbind(3);
    return plainNorm(x_BTSD).mul(scale!.add(1)).add(shift!);
  }
}

/** Frequencies of the rotary positions over time: weights in the file, in the model's dtype. */
class TimeRotary extends Module {
  readonly freqs: Tensor;

  constructor(head: number, options: ModuleOptions) {
    super();
    this.freqs = parameter([head / 2], options);
  }
}

export class STDiT3 extends Module {
  readonly rope: TimeRotary;
  readonly x_embedder: { readonly proj: Conv3d };
  readonly t_embedder: EmbeddingMlp;
  readonly action_embedder: ActionEmbedder;
  readonly fps_embedder: EmbeddingMlp;
  readonly t_block: { readonly "1": Linear };
  readonly y_embedder: CaptionEmbedder;
  readonly spatial_blocks: readonly STDiT3Block[];
  readonly temporal_blocks: readonly STDiT3Block[];
  readonly final_layer: FinalLayer;
  readonly #sizes: STDiT3Sizes;

  constructor(sizes: STDiT3Sizes, options: ModuleOptions = {}) {
    super();
    const { hidden_size: width, num_heads: heads, patch_size: patch } = sizes;
    const blocks = (): STDiT3Block[] =>
      Array.from(
        { length: sizes.depth },
        () => new STDiT3Block({ width, heads, hidden: width * sizes.mlp_ratio }, options),
      );
    this.rope = new TimeRotary(width / heads, options);
    this.x_embedder = {
      proj: new Conv3d(sizes.in_channels, width, { kernel: patch, stride: patch, ...options }),
    };
    this.t_embedder = new EmbeddingMlp(sinusoids, width, options);
    this.action_embedder = new ActionEmbedder(sizes, options);
    this.fps_embedder = new EmbeddingMlp(sinusoids, width, options);
    this.t_block = { "1": new Linear(width, 6 * width, options) };
    this.y_embedder = new CaptionEmbedder(sizes, options);
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
    const { dtype, device } = this.t_block["1"].weight;
    const noisy = noisy_BT.unsqueeze(2).unsqueeze(3);
    const time_BD = this.t_embedder.forward(timestep_B);
    const clean_BD = this.t_embedder.forward(full([timestep_B.shape[0]!], cleanTimestep, { device }));
    const project = (t: Tensor): Tensor => this.t_block["1"].forward(silu(t));
    const clean = project(clean_BD.unsqueeze(1));
    const perFrame = project(time_BD.unsqueeze(1).add(this.action_embedder.forward(actions_BCA)));
    const spatial: BlockModulation = { time: perFrame, clean, noisy };
    const temporal: BlockModulation = { time: project(time_BD.unsqueeze(1)), clean, noisy };

    let x_BTSD = this.#embedPatches(latents_BCThw.to({ dtype }));
    const rotary = temporalRotary(this.rope.freqs, latents_BCThw.shape[2]!);
    for (const [i, block] of this.spatial_blocks.entries()) {
      x_BTSD = scope(() => block.forward(x_BTSD, spatial));
      x_BTSD = scope(() => this.temporal_blocks[i]!.forward(x_BTSD, temporal, rotary));
    }
    const patches = this.final_layer.forward(x_BTSD, time_BD, clean_BD, noisy);
    return this.#unpatchify(patches, latents_BCThw.shape).float();
  }

  #embedPatches(latents_BCThw: Tensor): Tensor {
    const x_BDTRK = this.x_embedder.proj.forward(latents_BCThw);
    const [, width = 0, , rows = 0, columns = 0] = x_BDTRK.shape;
    const pixels = 8 * Math.sqrt(latents_BCThw.shape[3]! * latents_BCThw.shape[4]!);
    const scale = pixels / this.#sizes.input_sq_size;
    const positions = spatialPositions({ rows, columns, scale, width }, x_BDTRK);
    return x_BDTRK.flatten(3).permute([0, 2, 3, 1]).add(positions.unsqueeze(1));
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
