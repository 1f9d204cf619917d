/**
 * The hand's pose as worlds that draw it want it: x y z, quaternion x y z w, gripper.
 *
 * Recordings keep LIBERO's state: position, axis-angle, and the positions of two fingers, whose distance is the opening.
 */
import { type Tensor, tensor } from "#tensor";

export function robotPose(state: Tensor): Tensor {
  return tensor(poseNumbers(state.cpu().toArray().map(Number)));
}

export function poseNumbers(state: readonly number[]): number[] {
  const [x = 0, y = 0, z = 0, a = 0, b = 0, c = 0, left = 0, right = 0] = state;
  const angle = Math.hypot(a, b, c);
  const scale = angle < 1e-8 ? 0.5 : Math.sin(angle / 2) / angle;
  return [x, y, z, a * scale, b * scale, c * scale, Math.cos(angle / 2), Math.abs(left - right)];
}
