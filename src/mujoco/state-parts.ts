/** Which parts of a simulation's state to copy, as MuJoCo's bit sets (mjtState). */

export const statePartBits = {
  /** qpos, qvel, act */
  physics: 0b1110,
  /** time, qpos, qvel, act, plugin state */
  fullPhysics: 0b1_0000_0000_1111,
  /** fullPhysics, controls and applied forces, mocap, user data, warm start: all that the next step depends on */
  integration: 0b1_1111_1111_1111,
} as const;

export type StatePart = keyof typeof statePartBits;
