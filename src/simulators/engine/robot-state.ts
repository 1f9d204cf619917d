/**
 * The eight numbers that LIBERO's policies know of their own body: hand position, hand orientation as an axis-angle
 * vector, and the positions of the two fingers.
 */
import type { RobotReading } from "./scene-simulation.ts";

export const robotStateSize = 8;

export function robotState(
  { handPosition, handQuaternion, fingers }: RobotReading,
  out: Float32Array = new Float32Array(robotStateSize),
): Float32Array {
  for (let i = 0; i < 3; i++) out[i] = handPosition[i]!;
  const w = Math.min(1, Math.max(-1, handQuaternion[3]!));
  const sine = Math.sqrt(1 - w * w);
  const scale = sine === 0 ? 0 : (2 * Math.acos(w)) / sine;
  for (let i = 0; i < 3; i++) out[3 + i] = handQuaternion[i]! * scale;
  for (let i = 0; i < 2; i++) out[6 + i] = fingers[i]!;
  return out;
}
