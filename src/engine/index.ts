/** The engine of our simulators: scenes from BDDL, robots and their control, goals, cameras. It knows no suite; packs of assets are handed to it. */
export { type BddlTask, type Predicate, parseBddl, readBddl } from "./bddl.ts";
export { type DrawScene, drawAfterReset, drawScene } from "./draw-scene.ts";
export { actionSizeOf, handActionSize, handsOf, restAction } from "./hands.ts";
export { mirrorObjects } from "./mirror-objects.ts";
export {
  type ArmRobot,
  type Articulation,
  type AssetPack,
  type AxisRotation,
  type CameraPose,
  type CompilePredicate,
  type DrawStart,
  type InitStates,
  type ObjectCategory,
  type PackPredicates,
  type Problem,
  type Quaternion,
  type Range,
  type Robot,
  type Side,
  type StartRequest,
  sides,
  type TaskEntry,
  type TwoArmRobot,
  type Vector3,
} from "./pack.ts";
export { PackCamera } from "./pack-camera.ts";
export type { Condition } from "./predicates.ts";
export { robotState, robotStateSize } from "./robot-state.ts";
export { matrixOfVector, multiplyRotations, vectorBetween } from "./rotation-vector.ts";
export { assembleScene, type Scene } from "./scene.ts";
export type { SceneObject } from "./scene-object.ts";
export { assetIdentity } from "./scene-part.ts";
export type { SceneRegion } from "./scene-region.ts";
export { ownedByReset, resetScene } from "./scene-reset.ts";
export { type OnObservation, SceneSimulation } from "./scene-simulation.ts";
export type { ServoArm } from "./servo-arm.ts";
export { shippedAssets } from "./shipped-assets.ts";
export { turnFor } from "./turned-picture.ts";
export { TwoArmDrive } from "./two-arm-drive.ts";
export { parseXml } from "./xml.ts";
