/**
 * What judges a picture: the probability that the task it shows is done.
 *
 * Published judges round to 0 or 1; rounding is the env's choice, so that the raw probability stays available
 * for thresholds, ensembles and calibration.
 *
 * Shapes: N pictures, 3 channels, H W pixels in [-1, 1].
 */
import type { Device, DType, Tensor } from "#tensor";

export interface RewardModel {
  readonly name: string;
  /** Probability of success, float32 [N]. Only judges that know tasks read the instructions, one per picture. */
  judge(frames_NCHW: Tensor, instructions: readonly string[]): Tensor;
  /** Fails early, by name, on an instruction that this judge was never taught. */
  checkInstruction(instruction: string): void;
  to(place: { device?: Device; dtype?: DType }): void;
  state(): ReadonlyMap<string, Tensor>;
}
