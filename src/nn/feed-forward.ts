/**
 * The two feed-forward layers of transformers: two linears around an activation, and the gated form of Llama.
 *
 * Shazeer 2020, https://arxiv.org/abs/2002.05202. Shapes: B batch, L tokens, D width, F hidden width.
 */

import { fusedGatedSilu } from "#kernels";
import type { Tensor } from "#tensor";
import { gelu, silu } from "./activation.ts";
import { Linear, type LinearOptions } from "./linear.ts";
import { Module } from "./module.ts";

export interface MlpOptions extends LinearOptions {
  readonly width: number;
  readonly hidden: number;
  readonly outputs?: number;
  readonly activation?: (x: Tensor) => Tensor;
}

/** fc1, activation, fc2: the names of ViT checkpoints. */
export class Mlp extends Module {
  readonly fc1: Linear;
  readonly fc2: Linear;
  readonly #activation: (x: Tensor) => Tensor;

  constructor({ width, hidden, outputs = width, activation = gelu, ...options }: MlpOptions) {
    super();
    this.fc1 = new Linear(width, hidden, options);
    this.fc2 = new Linear(hidden, outputs, options);
    this.#activation = activation;
  }

  forward(x_BLD: Tensor): Tensor {
    return this.fc2.forward(this.#activation(this.fc1.forward(x_BLD)));
  }
}

/** down(activation(gate(x)) · up(x)): the names of Llama and Gemma checkpoints. */
export class GatedMlp extends Module {
  readonly gate_proj: Linear;
  readonly up_proj: Linear;
  readonly down_proj: Linear;
  readonly #activation: (x: Tensor) => Tensor;

  constructor({ width, hidden, outputs = width, activation = silu, bias = false, ...options }: MlpOptions) {
    super();
    this.gate_proj = new Linear(width, hidden, { bias, ...options });
    this.up_proj = new Linear(width, hidden, { bias, ...options });
    this.down_proj = new Linear(hidden, outputs, { bias, ...options });
    this.#activation = activation;
  }

  forward(x_BLD: Tensor): Tensor {
    const [gate_BLF, up_BLF] = [this.gate_proj.forward(x_BLD), this.up_proj.forward(x_BLD)];
    const fused = this.#activation === silu ? fusedGatedSilu(gate_BLF, up_BLF) : null;
    return this.down_proj.forward(fused ?? this.#activation(gate_BLF).mul(up_BLF));
  }
}
