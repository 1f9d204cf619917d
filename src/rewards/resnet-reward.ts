/**
 * `ResnetRM`, `ResnetRewModel`, `RewModel`: a success classifier on single pictures, one network under three names.
 *
 * Shapes: N pictures in [-1, 1], 3 channels, H W pixels of any size.
 */
import { Linear, Module, type ModuleOptions } from "#nn";
import { type Device, type DType, scope, type Tensor } from "#tensor";
import { runTrunk, type TrunkLayers, type TrunkWidths, trunkLayers } from "./resnet-trunk.ts";
import type { RewardModel } from "./reward-model.ts";

class Network extends Module {
  readonly net: TrunkLayers & { readonly "7": Linear };

  constructor(widths: TrunkWidths, options: ModuleOptions) {
    super();
    this.net = { ...trunkLayers(widths, options), "7": new Linear(widths[3], 1, options) };
  }
}

export class ResnetReward implements RewardModel {
  readonly name = "ResnetRewModel";
  readonly network: Network;

  constructor(widths: TrunkWidths = [64, 128, 256, 512], options: ModuleOptions = {}) {
    this.network = new Network(widths, options);
  }

  /** Feature vectors, [N, widths[3]]. Pictures are clamped: a decoder may overshoot. */
  features(frames_NCHW: Tensor): Tensor {
    const { dtype, device } = this.network.net["7"].weight;
    return runTrunk(this.network.net, frames_NCHW.clamp(-1, 1).to({ dtype, device }));
  }

  /** [N, 1]. The task numbers that its sibling needs are of no use here. */
  logits(frames_NCHW: Tensor, _tasks?: readonly number[] | Tensor): Tensor {
    return this.network.net["7"].forward(this.features(frames_NCHW));
  }

  judge(frames_NCHW: Tensor): Tensor {
    return scope(() => this.logits(frames_NCHW).float().sigmoid().squeeze(1));
  }

  checkInstruction(): void {} // it knows no tasks: every instruction will do

  to(place: { device?: Device; dtype?: DType }): void {
    this.network.to(place);
  }

  state(): ReadonlyMap<string, Tensor> {
    return this.network.namedParameters();
  }
}
