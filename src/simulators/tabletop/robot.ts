/** The tabletop's arm and gripper, as the engine's controller needs to know them. */

import type { Robot } from "#engine";
export const tabletopArm: Robot = {
  kind: "arm",
  xml: "robot.xml",
  gripper: {
    xml: "gripper.xml",
    initialJointPositions: [0.048, -0.048],
    closingSigns: [-1, 1],
    // Ten physics steps a control step: from open to closed in two control steps.
    speed: 0.1,
  },
  handBody: "right_hand",
  gripSite: "grip_site",
  // The grip site 13 cm above the middle of the table, fingers down, opening sideways.
  initialJointPositions: [0, 0.641, 0, 1.8701, 0, 0.6305, Math.PI],
  jointDamping: [0.5, 0.5, 0.5, 0.5, 0.3, 0.3, 0.3],
  jointFrictionLoss: [0, 0, 0, 0, 0, 0, 0],
  jointArmature: [0.1, 0.1, 0.1, 0.1, 0.05, 0.05, 0.05],
  stiffness: 2000,
};
