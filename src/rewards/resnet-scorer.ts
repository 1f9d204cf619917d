/**
 * `ResNetRewardModel`: RLinf's general picture scorer, on a torchvision ResNet.
 *
 * Unlike the world models' judges it takes pictures as a camera gives them: bytes or floats in [0, 1],
 * channels first or last, any size. It resizes, normalizes as ImageNet does, and scores.
 *
 * Shapes: N pictures, H W pixels.
 */
import { Module, type ModuleOptions } from "#nn";
import { UserError } from "#registry";
import { aten, type Device, type DType, scope, type Tensor, tensor } from "#tensor";
import type { RewardModel } from "./reward-model.ts";
import { type ResnetArch, TorchvisionResnet } from "./torchvision-resnet.ts";

const imagenet = { mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225] };

export interface ResnetScorerSettings {
  readonly arch: ResnetArch;
  readonly hidden: number | null;
  readonly imageSize: readonly [height: number, width: number];
  readonly normalize: boolean;
  /** Scores below it become 0. */
  readonly threshold?: number;
}

export const defaultResnetScorer: ResnetScorerSettings = {
  arch: "resnet18",
  hidden: null,
  imageSize: [224, 224],
  normalize: true,
};

class Network extends Module {
  readonly backbone: TorchvisionResnet;

  constructor({ arch, hidden }: ResnetScorerSettings, options: ModuleOptions) {
    super();
    this.backbone = new TorchvisionResnet(arch, hidden, options);
  }
}

export class ResnetScorer implements RewardModel {
  readonly name = "ResNetRewardModel";
  readonly network: Network;
  readonly settings: ResnetScorerSettings;

  constructor(settings: ResnetScorerSettings = defaultResnetScorer, options: ModuleOptions = {}) {
    this.settings = settings;
    this.network = new Network(settings, options);
  }

  /** Camera pictures to the network's input, [N, 3, H, W]. */
  preprocess(pictures: Tensor): Tensor {
    const first = [1, 3, 4].includes(pictures.shape.at(-1) ?? 0) ? pictures.permute([0, 3, 1, 2]) : pictures;
    const unit = first.dtype === "uint8" ? first.float().div(255) : requireUnit(first.float());
    const [height, width] = this.settings.imageSize;
    const same = unit.shape[2] === height && unit.shape[3] === width;
    const sized = same ? unit : aten.upsample_bilinear2d(unit, [height, width], false);
    if (!this.settings.normalize) return sized;
    const channel = (values: number[]): Tensor => tensor(values, { device: sized.device }).view([1, 3, 1, 1]);
    return sized.sub(channel(imagenet.mean)).div(channel(imagenet.std));
  }

  logits(pictures: Tensor): Tensor {
    const { dtype, device } = this.network.backbone.conv1.weight;
    return this.network.backbone.forward(this.preprocess(pictures.to({ device })).to({ dtype }));
  }

  /** Pictures as a camera gives them. */
  score(pictures: Tensor): Tensor {
    return scope(() => {
      const probability = this.logits(pictures).float().sigmoid();
      const { threshold } = this.settings;
      return threshold === undefined ? probability : probability.mul(probability.ge(threshold));
    });
  }

  /** A world's frames are in [-1, 1]: brought to [0, 1] first. */
  judge(frames_NCHW: Tensor): Tensor {
    return scope(() => this.score(frames_NCHW.clamp(-1, 1).add(1).div(2)));
  }

  checkInstruction(): void {} // it knows no tasks: every instruction will do

  to(place: { device?: Device; dtype?: DType }): void {
    this.network.to(place);
  }

  state(): ReadonlyMap<string, Tensor> {
    return this.network.namedParameters();
  }
}

function requireUnit(pictures: Tensor): Tensor {
  const [low, high] = [pictures.amin().item(), pictures.amax().item()] as [number, number];
  if (low >= 0 && high <= 1) return pictures;
  throw new UserError(
    `the reward model takes float pictures in [0, 1] or bytes; these run from ${low.toFixed(3)} to ${high.toFixed(3)}`,
  );
}
