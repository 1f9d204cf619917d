/**
 * One block of Wan's diffusion transformer: self-attention, attention to the actions, feed-forward.
 *
 * Wan team 2025, https://arxiv.org/abs/2503.20314. The text memory of the original is replaced by embedded
 * actions. Modulation is the same for all patches of a latent frame, so it is kept per frame (the reference
 * repeats it per patch) and broadcast: the same numbers for 1/64 of the work.
 *
 * Shapes: B videos, F latent frames, S patches of one, L = F·S tokens, M memory tokens, D width, H heads, E head width.
 */

import { fusedRmsNormRotary, fusedRotatePairs } from "#kernels";
import { attention, LayerNorm, Linear, Module, type ModuleOptions, parameter, RMSNorm } from "#nn";
import type { Tensor } from "#tensor";
import { epsilon, SixRows } from "../modulation.ts";
import { type RotaryTable, rotate } from "./rotary.ts";

/** Keys and values, [B, H, M, E]. */
export interface Memory {
  readonly k: Tensor;
  readonly v: Tensor;
}

class Attention extends Module {
  readonly q: Linear;
  readonly k: Linear;
  readonly v: Linear;
  readonly o: Linear;
  readonly norm_q: RMSNorm;
  readonly norm_k: RMSNorm;
  readonly #heads: number;

  constructor(width: number, heads: number, options: ModuleOptions) {
    super();
    this.q = new Linear(width, width, options);
    this.k = new Linear(width, width, options);
    this.v = new Linear(width, width, options);
    this.o = new Linear(width, width, options);
    this.norm_q = new RMSNorm(width, { eps: epsilon, ...options });
    this.norm_k = new RMSNorm(width, { eps: epsilon, ...options });
    this.#heads = heads;
  }

  /** Tokens look at each other. */
  forward(x_BLD: Tensor, rotary: RotaryTable): Tensor {
    const turned = (norm: RMSNorm, to: Linear): Tensor => this.#turned(norm, to.forward(x_BLD), rotary);
    const [q, k] = [turned(this.norm_q, this.q), turned(this.norm_k, this.k)];
    return this.#mix(q, { k, v: this.#split(this.v.forward(x_BLD)) });
  }

  /** Tokens look at what was remembered. */
  look(x_BLD: Tensor, memory: Memory): Tensor {
    return this.#mix(this.#split(this.norm_q.forward(this.q.forward(x_BLD))), memory);
  }

  remember(memory_BMD: Tensor): Memory {
    return {
      k: this.#split(this.norm_k.forward(this.k.forward(memory_BMD))),
      v: this.#split(this.v.forward(memory_BMD)),
    };
  }

  #turned(norm: RMSNorm, x_BLD: Tensor, rotary: RotaryTable): Tensor {
    const fused = fusedRmsNormRotary(x_BLD, norm.weight, rotary.single, epsilon);
    if (fused) return this.#split(fused);
    const normed = norm.forward(x_BLD);
    const turned = fusedRotatePairs(normed, rotary.single);
    return turned ? this.#split(turned) : rotate(this.#split(normed), rotary);
  }

  #mix(q_BHLE: Tensor, { k, v }: Memory): Tensor {
    return this.o.forward(attention(q_BHLE, k, v).transpose(1, 2).flatten(2));
  }

  #split(x_BLD: Tensor): Tensor {
    return x_BLD.unflatten(2, [this.#heads, -1]).transpose(1, 2);
  }
}

export class WanBlock extends Module {
  readonly modulation: Tensor;
  readonly self_attn: Attention;
  readonly cross_attn: Attention;
  readonly norm3: LayerNorm;
  readonly ffn: { readonly "0": Linear; readonly "2": Linear };

  constructor(sizes: { width: number; heads: number; hidden: number }, options: ModuleOptions) {
    super();
    const { width, heads, hidden } = sizes;
    this.modulation = parameter([1, 6, width], options);
    this.self_attn = new Attention(width, heads, options);
    this.cross_attn = new Attention(width, heads, options);
    this.norm3 = new LayerNorm(width, { eps: epsilon, ...options });
    this.ffn = { "0": new Linear(width, hidden, options), "2": new Linear(hidden, width, options) };
  }

  /** `time_BF6D`: what time and actions say about each latent frame; `memory`: of the embedded actions. */
  forward(x_BFSD: Tensor, time_BF6D: Tensor, memory: Memory, rotary: RotaryTable): Tensor {
    const six = new SixRows(this.modulation.add(time_BF6D));
    const looked_BLD = this.self_attn.forward(six.norm(x_BFSD, 0).flatten(1, 2), rotary);
    const seen = six.addAndNormBy(this.norm3, x_BFSD, looked_BLD);
    const read_BLD = this.cross_attn.look(seen.normed.flatten(1, 2), memory);
    const known = six.addPlainAndNorm(seen.sum, read_BLD);
    return six.add(known.sum, this.ffn["2"].forward(this.ffn["0"].forwardGeluTanh(known.normed)), 5);
  }
}
