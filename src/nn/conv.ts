/** Convolutions over one, two or three axes, in PyTorch's layout: weight [out, in / groups, …kernel]. */
import { fast, keep, noGrad, scope, type Tensor } from "#tensor";
import { channelsLast } from "./channels-last.ts";
import { Module, type ModuleOptions } from "./module.ts";
import { constant, parameter } from "./parameter.ts";

type Size = number | readonly number[];

export interface ConvOptions extends ModuleOptions {
  readonly kernel: Size;
  readonly stride?: Size;
  readonly padding?: Size;
  readonly dilation?: Size;
  readonly groups?: number;
  readonly bias?: boolean;
}

// biome-ignore lint/suspicious/noExplicitAny: the three operators differ only in the number of axes
type Convolve = (...args: any[]) => Tensor;
const convolve: Record<number, Convolve> = {
  1: fast("aten::conv1d") as Convolve,
  2: fast("aten::conv2d") as Convolve,
  3: fast("aten::conv3d") as Convolve,
};

const linear = fast("aten::linear") as Convolve;

const spread = (size: Size, axes: number): number[] =>
  typeof size === "number" ? Array(axes).fill(size) : [...size];

class Conv extends Module {
  weight: Tensor;
  bias?: Tensor;
  readonly #convolve: Convolve;
  readonly #geometry: readonly [stride: number[], padding: number[], dilation: number[], groups: number];

  constructor(axes: number, inputs: number, outputs: number, options: ConvOptions) {
    super();
    const { kernel, stride = 1, padding = 0, dilation = 1, groups = 1, bias = true, ...where } = options;
    this.weight = parameter([outputs, inputs / groups, ...spread(kernel, axes)], where);
    if (bias) this.bias = constant([outputs], 0, where);
    this.#convolve = convolve[axes] as Convolve;
    this.#geometry = [spread(stride, axes), spread(padding, axes), spread(dilation, axes), groups];
  }

  forward(x: Tensor): Tensor {
    return this.#convolve(x, this.weight, this.bias ?? null, ...this.#geometry);
  }

  /** Orders the weight in memory as a GPU wants it; its shape and values stay. */
  layOut(): void {
    this.replaceWeight(channelsLast);
  }

  protected replaceWeight(ordered: (weight: Tensor) => Tensor): void {
    const old = this.weight;
    this.weight = keep(noGrad(() => scope(() => ordered(old)))).requiresGrad_(old.requiresGrad);
    old.dispose(); // whoever holds it gets an error rather than a weight that no longer counts
  }
}

export class Conv1d extends Conv {
  constructor(inputs: number, outputs: number, options: ConvOptions) {
    super(1, inputs, outputs, options);
  }
}
export class Conv2d extends Conv {
  readonly #inputs: number;
  readonly #options: ConvOptions;

  constructor(inputs: number, outputs: number, options: ConvOptions) {
    super(2, inputs, outputs, options);
    this.#inputs = inputs;
    this.#options = options;
  }

  /** A fresh convolution of the same geometry with another number of outputs: LoRA's first half. */
  sibling(outputs: number, options: Partial<ConvOptions>): Conv2d {
    return new Conv2d(this.#inputs, outputs, { ...this.#options, ...options });
  }
}
export class Conv3d extends Conv {
  readonly #cuts: boolean;

  constructor(inputs: number, outputs: number, options: ConvOptions) {
    super(3, inputs, outputs, options);
    const { kernel, stride = 1, padding = 0, dilation = 1, groups = 1 } = options;
    const [block, step] = [`${spread(kernel, 3)}`, `${spread(stride, 3)}`];
    const plain = `${spread(padding, 3)}` === "0,0,0" && `${spread(dilation, 3)}` === "1,1,1" && groups === 1;
    this.#cuts = block === step && block !== "1,1,1" && plain;
  }

  override forward(x_BCTHW: Tensor): Tensor {
    const block = this.weight.shape.slice(2);
    const fits =
      this.#cuts && x_BCTHW.ndim === 5 && block.every((size, i) => x_BCTHW.shape[2 + i]! % size === 0);
    return fits ? this.#overBlocks(x_BCTHW, block) : super.forward(x_BCTHW);
  }

  /**
   * Blocks that do not overlap are rows of one matrix product. Libraries of convolutions have no quick way back through
   * such a layer with few channels, which is what every video model begins with.
   */
  #overBlocks(x_BCTHW: Tensor, block: readonly number[]): Tensor {
    const [batch = 0, channels = 0, ...size] = x_BCTHW.shape;
    const grid = size.map((length, i) => length / block[i]!);
    const rows = x_BCTHW
      .reshape([batch, channels, ...grid.flatMap((count, i) => [count, block[i]!])])
      .permute([0, 2, 4, 6, 1, 3, 5, 7])
      .reshape([batch, ...grid, -1]);
    return linear(rows, this.weight.flatten(1), this.bias ?? null).permute([0, 4, 1, 2, 3]);
  }
}

/** Lays out the weights of every convolution over pictures or videos, so that no call has to. */
export function convolutionsLast(module: Module): void {
  for (const [, part] of module.modules()) {
    if (part instanceof Conv2d || part instanceof Conv3d) part.layOut();
  }
}
