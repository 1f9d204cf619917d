/**
 * Guesses the absolute pose that a relative action leads to: a small network trained beside EVAC.
 *
 * The reference's env calls it on raw numbers, although it also has a form that normalizes poses by the data's mean
 * and spread; which one the published weights want is a setting. The reference's sees pose and action. A hand that moves
 * also goes on moving, so ours may see the last change of pose too, which episodes begin without.
 *
 * Shapes: B episodes, action A = 7, pose P = 8.
 */
import { Linear, Module, type ModuleOptions } from "#nn";
import { aten, cat, type Tensor } from "#tensor";

export interface PoseScale {
  readonly mean: Tensor; // [1, 8]
  readonly std: Tensor;
}

/** A hand on its way. */
export interface Hand {
  readonly pose: Tensor; // [B, P]
  readonly motion: Tensor; // the last change of pose, [B, P]
}

export class ActionPredictor extends Module {
  readonly network: { readonly "0": Linear; readonly "2": Linear; readonly "4": Linear };
  readonly actionSize: number;
  readonly readsMotion: boolean;

  constructor(
    sizes: { action: number; pose: number; hidden: number; motion?: boolean },
    options: ModuleOptions = {},
  ) {
    super();
    const { action, pose, hidden, motion = false } = sizes;
    this.actionSize = action;
    this.readsMotion = motion;
    this.network = {
      "0": new Linear(action + (motion ? 2 : 1) * pose, hidden, options),
      "2": new Linear(hidden, hidden, options),
      "4": new Linear(hidden, pose, options),
    };
  }

  forward(action_BA: Tensor, pose_BP: Tensor, motion_BP?: Tensor): Tensor {
    const seen = [action_BA, pose_BP, ...(this.readsMotion && motion_BP ? [motion_BP] : [])];
    const first = aten.relu(this.network["0"].forward(cat(seen, 1)));
    return this.network["4"].forward(aten.relu(this.network["2"].forward(first)));
  }

  /** The form that works on normalized poses. */
  forwardScaled(action_BA: Tensor, pose_BP: Tensor, { mean, std }: PoseScale, motion_BP?: Tensor): Tensor {
    const pose = pose_BP.sub(mean).div(std);
    return this.forward(action_BA, pose, motion_BP?.div(std)).mul(std).add(mean);
  }

  /** Where the hand is after an action, with a scale in the form that works on normalized poses. */
  follow({ pose, motion }: Hand, action_BA: Tensor, scale?: PoseScale): Hand {
    const next = scale
      ? this.forwardScaled(action_BA, pose, scale, motion)
      : this.forward(action_BA, pose, motion);
    return { pose: next, motion: next.sub(pose) };
  }
}

/** A hand at rest. */
export const restingHand = (pose_BP: Tensor): Hand => ({ pose: pose_BP, motion: pose_BP.mul(0) });
