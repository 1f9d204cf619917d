/** The home's robot: two arms of seven joints on a fixed torso, as the engine's drive needs to know them. */

import type { TwoArmRobot } from "#engine";

/** The grip site 28 cm before the robot, 34 cm to its left, 23 cm above the counter; nearer, the hands hide things from the head. */
const left = [0.49, 1.52, 0.66, 2.23, -1.43, -1.47, -0.7] as const;
const mirrored = [1, -1, -1, 1, -1, 1, -1] as const;

/** Meters above the floor. */
export const counterHeight = 0.9;

export const homeRobot: TwoArmRobot = {
  kind: "two arms",
  xml: "robot.xml",
  views: {},
  rest: { left, right: left.map((angle, i) => angle * mirrored[i]!) },
  jitter: 0.04,
  translationPerUnit: 0.04,
  rotationPerUnit: 0.25,
  leash: [0.09, 0.5],
  lowestAim: counterHeight + 0.012,
  // Closed lies beyond the middle, so that fingers press with their full force; faster ones pass through thin walls.
  fingers: { open: 0.05, closed: -0.02, speed: 0.5 },
};
