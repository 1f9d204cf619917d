/**
 * What the STDiT3 denoiser is told besides its latents: time and actions; and what it is no longer told: text.
 *
 * Shapes: B videos, T frames (memory then new), C new frames, D model width, A action size.
 */
import { Embedding, Linear, Module, type ModuleOptions, parameter, silu, timestepEmbedding } from "#nn";
import { cat, type Tensor } from "#tensor";
import type { STDiT3Sizes } from "./sizes.ts";

export const sinusoids = 256;

/** Linear, SiLU, Linear under the checkpoint's indices. */
export class EmbeddingMlp extends Module {
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

export class ActionEmbedder extends Module {
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

  /** [B, C, D]: one embedding per action. */
  embed(actions_BCA: Tensor): Tensor {
    const actions = actions_BCA.to({ dtype: this.none_action.weight.dtype });
    return this.fc["2"].forward(silu(this.fc["0"].forward(actions)));
  }

  /** [B, T, D]: a learned "no action" for every memory frame, then one embedding per action. */
  forward(actions_BCA: Tensor): Tensor {
    const embedded = this.embed(actions_BCA);
    const [batch = 0, , width = 0] = embedded.shape;
    return cat([this.none_action.weight.unsqueeze(0).expand([batch, this.#padding, width]), embedded], 1);
  }
}

/** In the files, never run: the caption embedding of the text-to-video model. */
export class CaptionEmbedder extends Module {
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

/** Frequencies of the rotary positions over time: weights in the file, in the model's dtype. */
export class TimeRotary extends Module {
  readonly freqs: Tensor;

  constructor(head: number, options: ModuleOptions) {
    super();
    this.freqs = parameter([head / 2], options);
  }
}
