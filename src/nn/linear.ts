/** The affine map, in PyTorch's layout: weight [out, in]. */
import { fast, type Tensor } from "#tensor";
import { Module, type ModuleOptions } from "./module.ts";
import { constant, parameter } from "./parameter.ts";

const linear = fast("aten::linear");

export interface LinearOptions extends ModuleOptions {
  readonly bias?: boolean;
}

export class Linear extends Module {
  weight: Tensor;
  bias?: Tensor;

  constructor(inputs: number, outputs: number, { bias = true, ...options }: LinearOptions = {}) {
    super();
    this.weight = parameter([outputs, inputs], options);
    if (bias) this.bias = constant([outputs], 0, options);
  }

  forward(x: Tensor): Tensor {
    return linear(x, this.weight, this.bias ?? null);
  }
}

/** A table of vectors, looked up by index. */
export class Embedding extends Module {
  weight: Tensor;

  constructor(count: number, width: number, options: ModuleOptions = {}) {
    super();
    this.weight = parameter([count, width], options);
  }

  forward(indices: Tensor): Tensor {
    return embedding(this.weight, indices);
  }
}

const embedding = fast("aten::embedding");
