/**
 * One block of Wan's diffusion transformer: self-attention, attention to the actions, feed-forward.
 *
 * Wan team 2025, https://arxiv.org/abs/2503.20314. The text memory of the original is replaced by embedded
 * actions. Modulation is the same for all patches of a latent frame, so it is kept per frame (the reference
 * repeats it per patch) and broadcast: the same numbers for 1/64 of the work.
 *
 * Shapes: B videos, F latent frames, S patches of one, L = F·S tokens, M memory tokens, D width, H heads, E head width.
 */
import { attention, LayerNorm, Linear, Module, type ModuleOptions, parameter, RMSNorm } from "#nn";
import { aten, type Tensor } from "#tensor";
import { type RotaryTable, rotate } from "./rotary.ts";

const epsilon = 1e-6;

/** Layer norm without weights. */
export const plainNorm = (x: Tensor): Tensor => aten.layer_norm(x, [x.shape.at(-1)!], null, null, epsilon);

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

  /** Queries from x, keys and values from the memory (x itself when they are the same tensor). */
  forward(x_BLD: Tensor, memory_BMD: Tensor, rotary?: RotaryTable): Tensor {
    let q = this.#split(this.norm_q.forward(this.q.forward(x_BLD)));
    let k = this.#split(this.norm_k.forward(this.k.forward(memory_BMD)));
    if (rotary) [q, k] = [rotate(q, rotary), rotate(k, rotary)];
    const mixed_BHLE = attention(q, k, this.#split(this.v.forward(memory_BMD)));
    return this.o.forward(mixed_BHLE.transpose(1, 2).flatten(2));
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

  /** `time_BF6D`: what time and actions say about each latent frame; `context_BMD`: the embedded actions. */
  forward(x_BFSD: Tensor, time_BF6D: Tensor, context_BMD: Tensor, rotary: RotaryTable): Tensor {
    const parts = this.modulation.add(time_BF6D).unsqueeze(3).unbind(2); // six [B, F, 1, D]
    const [shift1, scale1, gate1, shift2, scale2, gate2] = parts;
    const shape = [...x_BFSD.shape];
    const seen_BLD = plainNorm(x_BFSD).mul(scale1!.add(1)).add(shift1!).flatten(1, 2);
    let x = x_BFSD.add(gate1!.mul(this.self_attn.forward(seen_BLD, seen_BLD, rotary).view(shape)));
    x = x.add(this.cross_attn.forward(this.norm3.forward(x).flatten(1, 2), context_BMD).view(shape));
    const known = plainNorm(x).mul(scale2!.add(1)).add(shift2!);
    const hidden = aten.gelu(this.ffn["0"].forward(known), { approximate: "tanh" });
    return x.add(gate2!.mul(this.ffn["2"].forward(hidden)));
  }
}
