/**
 * The ResNet-18 of the published success classifiers.
 *
 * Hand-written in the reference, and not torchvision's: convolutions have biases, and the 1×1 shortcuts have
 * no batch norm. He et al. 2015, https://arxiv.org/abs/1512.03385. Batch norm runs on its stored statistics.
 *
 * Shapes: N pictures, C channels, H W pixels.
 */
import { Conv2d, Module, type ModuleOptions } from "#nn";
import { aten, type Tensor } from "#tensor";
import { BatchNorm2d } from "./batch-norm.ts";

/** Channels of the four stages; the stem has the first. Published: 64, 128, 256, 512. */
export type TrunkWidths = readonly [number, number, number, number];

class Residual extends Module {
  readonly conv1: Conv2d;
  readonly conv2: Conv2d;
  readonly conv3?: Conv2d;
  readonly bn1: BatchNorm2d;
  readonly bn2: BatchNorm2d;

  constructor(inputs: number, outputs: number, stride: number, options: ModuleOptions) {
    super();
    this.conv1 = new Conv2d(inputs, outputs, { kernel: 3, stride, padding: 1, ...options });
    this.conv2 = new Conv2d(outputs, outputs, { kernel: 3, padding: 1, ...options });
    if (stride !== 1) this.conv3 = new Conv2d(inputs, outputs, { kernel: 1, stride, ...options });
    this.bn1 = new BatchNorm2d(outputs, options);
    this.bn2 = new BatchNorm2d(outputs, options);
  }

  forward(x_NCHW: Tensor): Tensor {
    const first = aten.relu(this.bn1.forward(this.conv1.forward(x_NCHW)));
    const second = this.bn2.forward(this.conv2.forward(first));
    return aten.relu(second.add(this.conv3?.forward(x_NCHW) ?? x_NCHW));
  }
}

/** The stem under its index names: 0 convolution, 1 batch norm (then ReLU and max-pool, without weights). */
class Stem extends Module {
  readonly "0": Conv2d;
  readonly "1": BatchNorm2d;

  constructor(outputs: number, options: ModuleOptions) {
    super();
    this["0"] = new Conv2d(3, outputs, { kernel: 7, stride: 2, padding: 3, ...options });
    this["1"] = new BatchNorm2d(outputs, options);
  }

  forward(x_NCHW: Tensor): Tensor {
    return aten.max_pool2d(aten.relu(this["1"].forward(this["0"].forward(x_NCHW))), [3, 3], [2, 2], [1, 1]);
  }
}

/** `0` is the stem, `1` to `4` the stages: the index names under which the files keep them. */
export interface TrunkLayers {
  readonly "0": Stem;
  readonly "1": readonly Residual[];
  readonly "2": readonly Residual[];
  readonly "3": readonly Residual[];
  readonly "4": readonly Residual[];
}

export function trunkLayers(widths: TrunkWidths, options: ModuleOptions): TrunkLayers {
  const stage = (inputs: number, outputs: number, stride: number): Residual[] => [
    new Residual(inputs, outputs, stride, options),
    new Residual(outputs, outputs, 1, options),
  ];
  const [first, second, third, fourth] = widths;
  return {
    "0": new Stem(first, options),
    "1": stage(first, first, 1),
    "2": stage(first, second, 2),
    "3": stage(second, third, 2),
    "4": stage(third, fourth, 2),
  };
}

/** One feature vector per picture, [N, C]: the last stage averaged over the picture. */
export function runTrunk(layers: TrunkLayers, pictures_NCHW: Tensor): Tensor {
  const stages = [layers["1"], layers["2"], layers["3"], layers["4"]].flat();
  const features = stages.reduce((x, block) => block.forward(x), layers["0"].forward(pictures_NCHW));
  return aten.adaptive_avg_pool2d(features, [1, 1]).flatten(1);
}

/** Widths of a stored trunk, read from its shapes, so that small classifiers need no config file. */
export function widthsOf(weights: ReadonlyMap<string, Tensor>, prefix: string): TrunkWidths {
  const width = (key: string): number => weights.get(`${prefix}.${key}`)?.shape[0] ?? 0;
  return [
    width("1.0.conv1.weight"),
    width("2.0.conv1.weight"),
    width("3.0.conv1.weight"),
    width("4.0.conv1.weight"),
  ];
}
