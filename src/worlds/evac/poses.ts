/**
 * From absolute end-effector poses to the relative actions that EVAC's resampler reads.
 *
 * Differences of position and of extrinsic x-y-z Euler angles to the pose before, normalized with three times the
 * statistics of the AgiBotWorld data; the gripper as it is, divided by 120. Both arms carry the same pose.
 */
import { quaternionMatrix } from "./camera.ts";
import type { Pose } from "./trajectory.ts";

/** Of left x y z roll pitch yaw, then right. */
export interface PoseStatistics {
  readonly mean: readonly number[];
  readonly std: readonly number[];
  /** What the gripper's reading is divided by. */
  readonly gripper: number;
}

export const agibotStatistics: PoseStatistics = {
  mean: [
    2.949369387467578e-5, -2.4703978620566167e-9, -3.214520512208581e-5, -0.00010488863132125087,
    6.125598648383931e-6, 9.914418478635093e-5, 2.5206249689794423e-5, 2.386436953835608e-7,
    -3.6538445098187414e-5, -0.0001170051017729845, 9.653312579896854e-6, -0.0001260203458056615,
  ],
  std: [
    0.0008946039574389581, 0.0011014855217635904, 0.0010237522979384508, 0.010402864950142636,
    0.0049353766216338945, 0.010759416673279353, 0.000943621432585622, 0.0013782102901814636,
    0.0011818999106504536, 0.007539298011753274, 0.00432025757794631, 0.00814967736114264,
  ],
  gripper: 120,
};

const smallestSpread = 1e-3; // meters or radians
const span = 3; // statistics are of one frame, the model's steps are of three

/** Fourteen numbers: seven of the left arm, seven of the right. */
export function relativeAction(before: Pose, after: Pose, { mean, std, gripper }: PoseStatistics): number[] {
  const change = poseChange(before, after);
  return [0, 6].flatMap((arm) => {
    const normal = change.map((value, i) => {
      const [center, width] = [Math.fround(mean[arm + i]!), Math.fround(std[arm + i]!)];
      return (Math.fround(value) - span * center) / (span * width);
    });
    return [...normal, after[7]! / gripper];
  });
}

/** Of x y z roll pitch yaw, angles the short way round. */
export function poseChange(before: Pose, after: Pose): number[] {
  const [from, to] = [before, after].map((pose) => [...pose.slice(0, 3), ...eulerAngles(pose)]);
  return to!.map((value, i) => (i < 3 ? value - from![i]! : wrap(value - from![i]!)));
}

/**
 * Statistics under which the changes of a recording have zero mean and unit spread; what hardly moves is not blown up.
 * `changes`: rows of `poseChange`.
 */
export function measureStatistics(changes: readonly (readonly number[])[], gripper: number): PoseStatistics {
  const count = Math.max(changes.length, 1);
  const mean = Array<number>(6).fill(0);
  const square = Array<number>(6).fill(0);
  for (const row of changes) for (const [i, value] of row.entries()) mean[i]! += value / count;
  for (const row of changes)
    for (const [i, value] of row.entries()) square[i]! += (value - mean[i]!) ** 2 / count;
  const arm = {
    mean: mean.map((value) => value / span),
    std: square.map((value) => Math.max(Math.sqrt(value), smallestSpread) / span),
  };
  return { mean: [...arm.mean, ...arm.mean], std: [...arm.std, ...arm.std], gripper };
}

/** Roll, pitch and yaw about the fixed x, y and z axes. */
function eulerAngles(pose: Pose): [number, number, number] {
  const [, , , x, y, z, w] = pose as [number, number, number, number, number, number, number];
  const m = quaternionMatrix([x, y, z, w]);
  return [
    Math.atan2(m[2]![1]!, m[2]![2]!),
    Math.asin(Math.min(Math.max(-m[2]![0]!, -1), 1)),
    Math.atan2(m[1]![0]!, m[0]![0]!),
  ];
}

/** To (−π, π]. */
function wrap(angle: number): number {
  const turn = 2 * Math.PI;
  const positive = ((angle % turn) + turn) % turn;
  return positive > Math.PI ? positive - turn : positive;
}
