/**
 * What policies know of their own body. For each hand eight numbers, as LIBERO's policies have them: its position, its
 * orientation as an axis-angle vector, and the positions of its two fingers.
 */
import type { RobotReading } from "./robot-reading.ts";

/** Of one hand. */
export const robotStateSize = 8;

export function robotState(readings: readonly RobotReading[]): Float32Array {
  const all = new Float32Array(robotStateSize * readings.length);
  for (const [hand, reading] of readings.entries())
    writeState(reading, all.subarray(hand * robotStateSize, (hand + 1) * robotStateSize));
  return all;
}

function writeState({ handPosition, handQuaternion, fingers }: RobotReading, out: Float32Array): void {
  for (let i = 0; i < 3; i++) out[i] = handPosition[i]!;
  const w = Math.min(1, Math.max(-1, handQuaternion[3]!));
  const sine = Math.sqrt(1 - w * w);
  const scale = sine === 0 ? 0 : (2 * Math.acos(w)) / sine;
  for (let i = 0; i < 3; i++) out[3 + i] = handQuaternion[i]! * scale;
  for (let i = 0; i < 2; i++) out[6 + i] = fingers[i]!;
}
