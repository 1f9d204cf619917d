/**
 * A fixed number of learned questions that read a sequence of any length: Perceiver resampling.
 *
 * Alayrac et al. 2022 (Flamingo), https://arxiv.org/abs/2204.14198. EVAC has two: one reads the first picture's
 * CLIP tokens, one the actions.
 *
 * Shapes: B sequences, L tokens, Q questions, D width.
 */
import {
  attention,
  gelu,
  LayerNorm,
  Linear,
  Module,
  type ModuleOptions,
  mergeHeads,
  parameter,
  splitHeads,
} from "#nn";
import { cat, type Tensor } from "#tensor";
import type { ResamplerSizes } from "./sizes.ts";

class Reading extends Module {
  readonly norm1: LayerNorm;
  readonly norm2: LayerNorm;
  readonly to_q: Linear;
  readonly to_kv: Linear;
  readonly to_out: Linear;
  readonly #heads: number;

  constructor({ dim, heads, dim_head }: ResamplerSizes, options: ModuleOptions) {
    super();
    const inner = heads * dim_head;
    const bare = { bias: false, ...options };
    this.norm1 = new LayerNorm(dim, options);
    this.norm2 = new LayerNorm(dim, options);
    this.to_q = new Linear(dim, inner, bare);
    this.to_kv = new Linear(dim, 2 * inner, bare);
    this.to_out = new Linear(inner, dim, bare);
    this.#heads = heads;
  }

  forward(x_BLD: Tensor, questions_BQD: Tensor): Tensor {
    const questions = this.norm2.forward(questions_BQD);
    const [k, v] = this.to_kv.forward(cat([this.norm1.forward(x_BLD), questions], 1)).chunk(2, 2);
    const heads = [this.to_q.forward(questions), k!, v!].map((x) => splitHeads(x.contiguous(), this.#heads));
    return this.to_out.forward(mergeHeads(attention(heads[0]!, heads[1]!, heads[2]!)));
  }
}

/** Norm, Linear, GELU, Linear under the checkpoint's indices. */
class Thinking extends Module {
  readonly "0": LayerNorm;
  readonly "1": Linear;
  readonly "3": Linear;

  constructor({ dim, ff_mult }: ResamplerSizes, options: ModuleOptions) {
    super();
    this["0"] = new LayerNorm(dim, options);
    this["1"] = new Linear(dim, dim * ff_mult, { bias: false, ...options });
    this["3"] = new Linear(dim * ff_mult, dim, { bias: false, ...options });
  }

  forward(x_BQD: Tensor): Tensor {
    return this["3"].forward(gelu(this["1"].forward(this["0"].forward(x_BQD))));
  }
}

export class Resampler extends Module {
  readonly latents: Tensor;
  readonly proj_in: Linear;
  readonly proj_out: Linear;
  readonly norm_out: LayerNorm;
  readonly layers: readonly (readonly [Reading, Thinking])[];

  constructor(sizes: ResamplerSizes, options: ModuleOptions = {}) {
    super();
    this.latents = parameter([1, sizes.num_queries * sizes.video_length, sizes.dim], options);
    this.proj_in = new Linear(sizes.embedding_dim, sizes.dim, options);
    this.proj_out = new Linear(sizes.dim, sizes.output_dim, options);
    this.norm_out = new LayerNorm(sizes.output_dim, options);
    this.layers = Array.from(
      { length: sizes.depth },
      () => [new Reading(sizes, options), new Thinking(sizes, options)] as const,
    );
  }

  /** [B, L, embedding_dim] to [B, Q, output_dim]. */
  forward(x_BLE: Tensor): Tensor {
    const { dtype } = this.latents;
    const x_BLD = this.proj_in.forward(x_BLE.to({ dtype }));
    let questions = this.latents.expand([x_BLD.shape[0]!, -1, -1]);
    for (const [reading, thinking] of this.layers) {
      questions = questions.add(reading.forward(x_BLD, questions));
      questions = questions.add(thinking.forward(questions));
    }
    return this.norm_out.forward(this.proj_out.forward(questions));
  }
}
