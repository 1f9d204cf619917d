/**
 * Guesses the absolute pose that a relative action leads to: a small network trained beside EVAC.
 *
 * The reference's env calls it on raw numbers, although it also has a form that normalises poses by the data's mean
 * and spread; which one the published weights want is a setting.
 *
 * Shapes: B episodes, action 7, pose 8.
 */
import { Linear, Module, type ModuleOptions } from "#nn";
import { aten, cat, type Tensor } from "#tensor";

export interface PoseScale {
  readonly mean: Tensor; // [1, 8]
  readonly std: Tensor;
}

export class ActionPredictor extends Module {
  readonly network: { readonly "0": Linear; readonly "2": Linear; readonly "4": Linear };

  constructor(sizes: { action: number; pose: number; hidden: number }, options: ModuleOptions = {}) {
    super();
    const { action, pose, hidden } = sizes;
    this.network = {
      "0": new Linear(action + pose, hidden, options),
      "2": new Linear(hidden, hidden, options),
      "4": new Linear(hidden, pose, options),
    };
  }

  forward(action_BA: Tensor, pose_BP: Tensor): Tensor {
    const first = aten.relu(this.network["0"].forward(cat([action_BA, pose_BP], 1)));
    return this.network["4"].forward(aten.relu(this.network["2"].forward(first)));
  }

  /** The form that works on normalised poses. */
  forwardScaled(action_BA: Tensor, pose_BP: Tensor, { mean, std }: PoseScale): Tensor {
    return this.forward(action_BA, pose_BP.sub(mean).div(std)).mul(std).add(mean);
  }
}
