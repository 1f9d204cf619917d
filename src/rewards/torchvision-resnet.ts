/**
 * torchvision's ResNet 18 to 152, under torchvision's names, with the reference's scoring head.
 *
 * He et al. 2015, https://arxiv.org/abs/1512.03385. Convolutions have no bias, shortcuts have batch norm, and
 * the 3×3 convolution of a bottleneck carries the stride (torchvision's "v1.5").
 *
 * Shapes: N pictures, C channels, H W pixels.
 */
import { Conv2d, Linear, Module, type ModuleOptions } from "#nn";
import { aten, scope, type Tensor } from "#tensor";
import { BatchNorm2d } from "./batch-norm.ts";

export type ResnetArch = "resnet18" | "resnet34" | "resnet50" | "resnet101" | "resnet152";

const layouts: Record<ResnetArch, { readonly blocks: readonly number[]; readonly bottleneck: boolean }> = {
  resnet18: { blocks: [2, 2, 2, 2], bottleneck: false },
  resnet34: { blocks: [3, 4, 6, 3], bottleneck: false },
  resnet50: { blocks: [3, 4, 6, 3], bottleneck: true },
  resnet101: { blocks: [3, 4, 23, 3], bottleneck: true },
  resnet152: { blocks: [3, 8, 36, 3], bottleneck: true },
};

export const resnetArchs = Object.keys(layouts) as ResnetArch[];

interface BlockShape {
  readonly inputs: number;
  readonly width: number;
  readonly outputs: number;
  readonly stride: number;
}

class Shortcut extends Module {
  readonly "0": Conv2d;
  readonly "1": BatchNorm2d;

  constructor({ inputs, outputs, stride }: BlockShape, options: ModuleOptions) {
    super();
    this["0"] = new Conv2d(inputs, outputs, { kernel: 1, stride, bias: false, ...options });
    this["1"] = new BatchNorm2d(outputs, options);
  }

  forward(x_NCHW: Tensor): Tensor {
    return this["1"].forward(this["0"].forward(x_NCHW));
  }
}

class Block extends Module {
  readonly conv1: Conv2d;
  readonly bn1: BatchNorm2d;
  readonly conv2: Conv2d;
  readonly bn2: BatchNorm2d;
  readonly conv3?: Conv2d;
  readonly bn3?: BatchNorm2d;
  readonly downsample?: Shortcut;

  constructor(shape: BlockShape, bottleneck: boolean, options: ModuleOptions) {
    super();
    const { inputs, width, outputs, stride } = shape;
    const conv = (from: number, to: number, kernel: number, step: number): Conv2d =>
      new Conv2d(from, to, {
        kernel: kernel,
        stride: step,
        padding: (kernel - 1) / 2,
        bias: false,
        ...options,
      });
    this.conv1 = bottleneck ? conv(inputs, width, 1, 1) : conv(inputs, width, 3, stride);
    this.bn1 = new BatchNorm2d(width, options);
    this.conv2 = conv(width, width, 3, bottleneck ? stride : 1);
    this.bn2 = new BatchNorm2d(width, options);
    if (bottleneck) {
      this.conv3 = conv(width, outputs, 1, 1);
      this.bn3 = new BatchNorm2d(outputs, options);
    }
    if (stride !== 1 || inputs !== outputs) this.downsample = new Shortcut(shape, options);
  }

  forward(x_NCHW: Tensor): Tensor {
    let y = this.bn2.forward(this.conv2.forward(aten.relu(this.bn1.forward(this.conv1.forward(x_NCHW)))));
    if (this.conv3 && this.bn3) y = this.bn3.forward(this.conv3.forward(aten.relu(y)));
    return aten.relu(y.add(this.downsample?.forward(x_NCHW) ?? x_NCHW));
  }
}

export class TorchvisionResnet extends Module {
  readonly conv1: Conv2d;
  readonly bn1: BatchNorm2d;
  readonly layer1: readonly Block[];
  readonly layer2: readonly Block[];
  readonly layer3: readonly Block[];
  readonly layer4: readonly Block[];
  readonly fc: Linear | { readonly "0": Linear; readonly "3": Linear };

  /** `hidden` puts a hidden layer of that width before the score. */
  constructor(arch: ResnetArch, hidden: number | null, options: ModuleOptions = {}) {
    super();
    const { blocks, bottleneck } = layouts[arch];
    const expansion = bottleneck ? 4 : 1;
    const stages = blocks.map((count, stage) => {
      const width = 64 * 2 ** stage;
      const outputs = width * expansion;
      return Array.from({ length: count }, (_, block) => {
        const inputs = block > 0 ? outputs : stage === 0 ? 64 : outputs / 2;
        return new Block(
          { inputs, width, outputs, stride: block === 0 && stage > 0 ? 2 : 1 },
          bottleneck,
          options,
        );
      });
    });
    const features = 512 * expansion;
    this.conv1 = new Conv2d(3, 64, { kernel: 7, stride: 2, padding: 3, bias: false, ...options });
    this.bn1 = new BatchNorm2d(64, options);
    [this.layer1, this.layer2, this.layer3, this.layer4] = stages as [Block[], Block[], Block[], Block[]];
    this.fc =
      hidden === null
        ? new Linear(features, 1, options)
        : { "0": new Linear(features, hidden, options), "3": new Linear(hidden, 1, options) };
  }

  /** One score per picture before the sigmoid, [N]. */
  forward(pictures_NCHW: Tensor): Tensor {
    const stem = aten.relu(this.bn1.forward(this.conv1.forward(pictures_NCHW)));
    let x = aten.max_pool2d(stem, [3, 3], [2, 2], [1, 1]);
    for (const block of [this.layer1, this.layer2, this.layer3, this.layer4].flat()) {
      x = scope(() => block.forward(x));
    }
    const features = aten.adaptive_avg_pool2d(x, [1, 1]).flatten(1);
    const { fc } = this;
    const score =
      fc instanceof Linear ? fc.forward(features) : fc["3"].forward(aten.relu(fc["0"].forward(features)));
    return score.squeeze(1);
  }
}
