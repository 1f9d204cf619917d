/**
 * Low-rank adaptation: y = base(x) + scale · B(A(x)), with only A and B trained. Hu et al. 2021,
 * https://arxiv.org/abs/2106.09685.
 *
 * The base weight is never materialized with the product added, except by `merge`. Field names follow PEFT's
 * runtime names: `base_layer`, `lora_A`, `lora_B`. A convolution's A is a convolution of the same geometry with r
 * outputs, and its B a 1×1 convolution.
 */
import { fast, type Generator, noGrad, type Tensor } from "#tensor";
import { Conv2d } from "./conv.ts";
import { Linear } from "./linear.ts";
import { Module } from "./module.ts";
import { initNormal } from "./parameter.ts";

export interface LoraOptions {
  readonly rank: number;
  readonly alpha: number;
}

/** target ← beta · target + alpha · left · right, in place; the last two are keyword-only in the schema. */
const addProduct = fast("aten::addmm_") as (
  target: Tensor,
  left: Tensor,
  right: Tensor,
  beta: number,
  alpha: number,
) => Tensor;

type Layer = Module & { weight: Tensor; forward(x: Tensor): Tensor };

abstract class Lora<Base extends Layer> extends Module {
  readonly base_layer: Base;
  abstract readonly lora_A: Layer;
  abstract readonly lora_B: Layer;
  readonly scale: number;

  constructor(base: Base, { rank, alpha }: LoraOptions) {
    super();
    this.base_layer = base;
    this.scale = alpha / rank;
    base.requiresGrad_(false);
  }

  forward(x: Tensor): Tensor {
    const low = this.lora_B.forward(this.lora_A.forward(x));
    return this.base_layer.forward(x).add(this.scale === 1 ? low : low.mul(this.scale));
  }

  /** The weight's change: scale · B A in the base weight's shape. */
  delta(): Tensor {
    const b = this.lora_B.weight.flatten(1);
    const product = b.matmul(this.lora_A.weight.flatten(1));
    return product.mul(this.scale).reshape(this.base_layer.weight.shape);
  }

  /** Adds the change to the base weight and gives the plain layer back. */
  merge(): Base {
    noGrad(() => this.base_layer.weight.add_(this.delta()));
    return this.base_layer;
  }

  /** A ~ N(0, 1/r²), B = 0: the adapted layer begins as the base layer. */
  initialize(generator: Generator): this {
    initNormal(this.lora_A.weight, 1 / this.lora_A.weight.size(0), generator);
    noGrad(() => this.lora_B.weight.zero_());
    return this;
  }
}

export class LoraLinear extends Lora<Linear> {
  readonly lora_A: Linear;
  readonly lora_B: Linear;

  constructor(base: Linear, options: LoraOptions) {
    super(base, options);
    const [outputs = 0, inputs = 0] = base.weight.shape;
    const like = { device: base.weight.device, dtype: base.weight.dtype, bias: false };
    this.lora_A = new Linear(inputs, options.rank, like);
    this.lora_B = new Linear(options.rank, outputs, like);
  }

  /** The second product adds onto the base layer's result, so the change itself is never written out. */
  override forward(x: Tensor): Tensor {
    const shape = x.shape;
    const rows_RI = x.reshape([-1, shape.at(-1) ?? 0]);
    const base_RO = this.base_layer.forward(rows_RI);
    const low_Rr = this.lora_A.forward(rows_RI);
    addProduct(base_RO, low_Rr, this.lora_B.weight.transpose(0, 1), 1, this.scale);
    return base_RO.view([...shape.slice(0, -1), base_RO.size(1)]);
  }
}

export class LoraConv2d extends Lora<Conv2d> {
  readonly lora_A: Conv2d;
  readonly lora_B: Conv2d;

  constructor(base: Conv2d, options: LoraOptions) {
    super(base, options);
    const [outputs = 0] = base.weight.shape;
    const like = { device: base.weight.device, dtype: base.weight.dtype, bias: false };
    this.lora_A = base.sibling(options.rank, like);
    this.lora_B = new Conv2d(options.rank, outputs, { kernel: 1, ...like });
  }
}
