/**
 * The two small networks that reinforcement learning adds to π0: the critic, and the noise of flow-noise.
 *
 * Both stay float32. Shapes: B batch, D width of what they read, H actions, A numbers in a model action.
 */
import { buffer, initNormal, initUniform, Linear, Module, type ModuleOptions } from "#nn";
import { type Generator, noGrad, type Tensor } from "#tensor";

/** A place in `mlp` without weights, so that the numbers of the published keys come out right. */
class Relu extends Module {
  forward(x: Tensor): Tensor {
    return x.relu();
  }
}

export class ValueHead extends Module {
  readonly mlp: readonly (Linear | Relu)[];

  constructor(width: number, hidden: readonly number[], options: ModuleOptions) {
    super();
    const inputs = [width, ...hidden];
    this.mlp = [
      ...hidden.flatMap((outputs, i) => [new Linear(inputs[i]!, outputs, options), new Relu()]),
      new Linear(inputs.at(-1)!, 1, options),
    ];
  }

  /** [B, D] to one value a row, [B, 1]. */
  forward(x_BD: Tensor): Tensor {
    return this.mlp.reduce((x: Tensor, layer) => layer.forward(x), x_BD);
  }

  /** Kaiming's normal by outputs, and N(0, 0.02) for the last layer; biases zero. */
  initialize(generator: Generator): void {
    const layers = this.mlp.filter((layer) => layer instanceof Linear);
    for (const [i, { weight, bias }] of layers.entries()) {
      const last = i === layers.length - 1;
      initNormal(weight, last ? 0.02 : Math.sqrt(2 / weight.size(0)), generator);
      noGrad(() => bias!.zero_());
    }
  }
}

class LogVariance extends Module {
  readonly moduleList: readonly { readonly linear_1: Linear }[];

  constructor(widths: readonly number[], options: ModuleOptions) {
    super();
    this.moduleList = widths
      .slice(1)
      .map((outputs, i) => ({ linear_1: new Linear(widths[i]!, outputs, options) }));
  }

  forward(x: Tensor): Tensor {
    return this.moduleList.reduce((y, { linear_1 }, i) => linear_1.forward(i === 0 ? y : y.tanh()), x);
  }
}

/** How much noise each number of each action gets, between two deviations. */
export class NoiseHead extends Module {
  readonly logvar_min: Tensor;
  readonly logvar_max: Tensor;
  readonly mlp_logvar: LogVariance;

  constructor(width: number, actionSize: number, options: ModuleOptions) {
    super();
    this.logvar_min = buffer([1], options);
    this.logvar_max = buffer([1], options);
    this.mlp_logvar = new LogVariance([width, 128, 64, actionSize], options);
  }

  /** [B, H, D] to deviations [B, H, A]. */
  forward(x_BHD: Tensor): Tensor {
    const share = this.mlp_logvar.forward(x_BHD).tanh().add(1).div(2);
    return this.logvar_min.add(this.logvar_max.sub(this.logvar_min).mul(share)).mul(0.5).exp();
  }

  /** The least and the greatest deviation. */
  setRange([least, greatest]: readonly [number, number]): void {
    noGrad(() => {
      this.logvar_min.fill_(Math.log(least ** 2));
      this.logvar_max.fill_(Math.log(greatest ** 2));
    });
  }

  /** PyTorch's own start of linear layers. */
  initialize(generator: Generator): void {
    for (const { linear_1 } of this.mlp_logvar.moduleList) {
      const bound = 1 / Math.sqrt(linear_1.weight.size(1));
      initUniform(linear_1.weight, bound, generator);
      initUniform(linear_1.bias!, bound, generator);
    }
  }
}
