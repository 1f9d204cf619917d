/**
 * The critic on top of a language model: one hidden state to one value, or one value per action of a chunk.
 *
 * Shapes: B batch, D language width, V values.
 */
import { gelu, initNormal, Linear, Module, type ModuleOptions } from "#nn";
import { type Generator, noGrad, type Tensor } from "#tensor";

/** Whether one value judges a whole chunk or each of its actions has its own. */
export type ValueType = "chunk_level" | "action_level";

/** A place in `mlp` without weights, so that the numbers of the published keys come out right. */
class Gelu extends Module {
  forward(x: Tensor): Tensor {
    return gelu(x);
  }
}

export class ValueHead extends Module {
  readonly mlp: readonly [Linear, Gelu, Linear, Gelu, Linear];

  constructor(width: number, values: number, options: ModuleOptions) {
    super();
    this.mlp = [
      new Linear(width, 512, options),
      new Gelu(),
      new Linear(512, 128, options),
      new Gelu(),
      new Linear(128, values, { ...options, bias: false }),
    ];
  }

  forward(hidden_BD: Tensor): Tensor {
    return this.mlp.reduce((x: Tensor, layer) => layer.forward(x), hidden_BD);
  }

  /** For a checkpoint without a critic: N(0, 0.02) and zero biases, which is what the reference ends up with. */
  initialize(generator: Generator): void {
    for (const [name, weight] of this.namedParameters()) {
      if (name.endsWith("bias")) noGrad(() => weight.zero_());
      else initNormal(weight, 0.02, generator);
    }
  }
}
