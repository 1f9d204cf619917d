/** The affine map, in PyTorch's layout: weight [out, in]. */
import { fast, fusable, type Tensor } from "#tensor";
import { geluTanh } from "./activation.ts";
import { Module, type ModuleOptions } from "./module.ts";
import { constant, parameter } from "./parameter.ts";

const linear = fast("aten::linear");
// beta, alpha and use_gelu are keyword-only in the schema and positional on the fast path
const linearWithGelu = fast("aten::_addmm_activation") as (...args: unknown[]) => Tensor;

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

  /**
   * GELU (tanh form) of the map; in bfloat16 on a GPU inside the matrix product. Where gradients are asked for, plain operators: a kernel
   * of our own for bias, GELU and their way back took 1.5 times as long on an H200.
   */
  forwardGeluTanh(x: Tensor): Tensor {
    const { weight, bias } = this;
    if (!bias || x.device === "cpu" || !fusable(x, weight, bias)) return geluTanh(this.forward(x));
    const [outputs = 0, inputs = 0] = weight.shape;
    const rows = linearWithGelu(bias, x.view([-1, inputs]), weight.transpose(0, 1), 1, 1, true);
    return rows.view([...x.shape.slice(0, -1), outputs]);
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
