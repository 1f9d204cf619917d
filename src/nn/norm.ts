/** Layer, root-mean-square and group normalization. */

import {
  type AddedAndNormed,
  fusedAddRmsNorm,
  fusedGroupNorm,
  fusedRmsNorm,
  fusedSumNorm,
  type Gate,
  type GroupNormParts,
  recordedGroupNorm,
  type SumAndNorm,
} from "#kernels";
import { fast, scope, type Tensor } from "#tensor";
import { silu } from "./activation.ts";
import { asLast, fromLast } from "./channels-last.ts";
import { Module, type ModuleOptions } from "./module.ts";
import { constant } from "./parameter.ts";

const layerNorm = fast("aten::layer_norm");
const groupNorm = fast("aten::group_norm");

export interface NormOptions extends ModuleOptions {
  readonly eps?: number;
  /** False leaves out scale and shift: the field's "elementwise_affine". */
  readonly affine?: boolean;
}

export class LayerNorm extends Module {
  weight?: Tensor;
  bias?: Tensor;
  readonly #width: number;
  readonly #eps: number;

  constructor(width: number, { eps = 1e-5, affine = true, ...options }: NormOptions = {}) {
    super();
    this.#width = width;
    this.#eps = eps;
    if (affine) {
      this.weight = constant([width], 1, options);
      this.bias = constant([width], 0, options);
    }
  }

  forward(x: Tensor): Tensor {
    return layerNorm(x, [this.#width], this.weight ?? null, this.bias ?? null, this.#eps);
  }

  /** The norm of x + branch, and that sum. The branch may be overwritten. */
  forwardSum(x: Tensor, branch: Tensor): SumAndNorm {
    const fused = this.fusedSum(x, branch);
    if (fused) return fused;
    const sum = x.add(branch);
    return { sum, normed: this.forward(sum) };
  }

  /** By one kernel, the branch gated or not; null where none fits. */
  fusedSum(x: Tensor, branch: Tensor, gate?: Gate): SumAndNorm | null {
    const { weight, bias } = this;
    if (!weight || !bias) return null;
    return fusedSumNorm(x, branch, { ...(gate && { gate }), by: { weight, bias } }, this.#eps);
  }
}

/** Llama's form: computed in float32 whatever the input, scaled in the input's type. Zhang & Sennrich 2019, https://arxiv.org/abs/1910.07467 */
export class RMSNorm extends Module {
  weight: Tensor;
  readonly #eps: number;

  constructor(width: number, { eps = 1e-6, ...options }: NormOptions = {}) {
    super();
    this.#eps = eps;
    this.weight = constant([width], 1, options);
  }

  forward(x: Tensor): Tensor {
    return fusedRmsNorm(x, this.weight, this.#eps) ?? scope(() => this.#plain(x));
  }

  /** The norm of x + branch, and that sum. The branch may be overwritten. */
  forwardSum(x: Tensor, branch: Tensor): AddedAndNormed {
    const fused = fusedAddRmsNorm(x, branch, this.weight, this.#eps);
    if (fused) return fused;
    const sum = x.add(branch);
    return { sum, normed: this.forward(sum) };
  }

  #plain(x: Tensor): Tensor {
    const { dtype } = x;
    const wide = dtype === "float32" ? x : x.float();
    const scaled = wide.mul(wide.square().mean(-1, true).add(this.#eps).rsqrt());
    return this.weight.mul(dtype === "float32" ? scaled : scaled.to({ dtype }));
  }
}

export class GroupNorm extends Module {
  weight: Tensor;
  bias: Tensor;
  readonly #groups: number;
  readonly #eps: number;

  constructor(groups: number, channels: number, { eps = 1e-5, ...options }: NormOptions = {}) {
    super();
    this.#groups = groups;
    this.#eps = eps;
    this.weight = constant([channels], 1, options);
    this.bias = constant([channels], 0, options);
  }

  forward(x: Tensor): Tensor {
    return this.#channelsLast(x, false) ?? groupNorm(x, this.#groups, this.weight, this.bias, this.#eps);
  }

  /** SiLU of the norm. */
  forwardSilu(x: Tensor): Tensor {
    return this.#channelsLast(x, true) ?? silu(this.forward(x));
  }

  /**
   * SiLU of the norm of [B, C, T, H, W] as [B, T + 2, H, W, C], its first frame three times: what a causal convolution reads.
   * Null where no kernel fits.
   */
  fusedSiluLeading(x_BCTHW: Tensor): Tensor | null {
    return fusedGroupNorm(asLast(x_BCTHW), { ...this.#parts(true), leading: true });
  }

  /** By our kernels, where the channels come last in memory: [N, C, ...] in, the same layout out. */
  #channelsLast(x: Tensor, withSilu: boolean): Tensor | null {
    if (x.device === "cpu" || x.ndim < 3) return null;
    const last = asLast(x);
    const parts = this.#parts(withSilu);
    const out = fusedGroupNorm(last, parts) ?? recordedGroupNorm(last, parts);
    return out && fromLast(out);
  }

  #parts(withSilu: boolean): GroupNormParts {
    const { weight, bias } = this;
    return { groups: this.#groups, weight, bias, eps: this.#eps, silu: withSilu };
  }
}
