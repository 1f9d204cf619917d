/**
 * Puts a simulation into a start drawn from a seed, as LIBERO's `reset()` does.
 *
 * Bits are drawn in its order: seven normals for an arm noise of size zero, the joint draws, the placements. LIBERO's
 * list of joint draws is never emptied, so the n-th reset of an environment makes them n + 1 times; `repetitions` says
 * how often. The simulation must own `body_pos` and `body_quat`: fixtures stand in the model, not in qpos.
 */

import type { Simulation } from "#mujoco";
import type { Mt19937 } from "#random";
import { type ArmRobot, type Quaternion, type Robot, sides, type TwoArmRobot, type Vector3 } from "./pack.ts";
import { drawPlacements, jointDraws, type Placement } from "./placement.ts";
import type { Scene } from "./scene.ts";

/** What a simulation of a scene must own of the model for the functions here. */
export const ownedByReset = ["body_pos", "body_quat"] as const;

export interface Pose {
  readonly position: Vector3;
  readonly orientation: Quaternion;
}

/** Leaves positions set but nothing computed from them: call `forward` next. Throws PlacementError without a free spot. */
export function resetScene(
  scene: Scene,
  simulation: Simulation,
  random: Mt19937,
  repetitions: number,
): Placement[] {
  simulation.reset();
  for (const name of ownedByReset) simulation.modelArray(name).set(simulation.model.array(name));
  placeRobot(scene.robot, simulation, random);
  for (let i = 0; i < repetitions; i++) drawJoints(scene, simulation, random);
  simulation.step1();
  const positions = simulation.array("site_xpos");
  const placements = drawPlacements(scene, random, (site) => {
    const at = 3 * simulation.model.id("site", site);
    return [positions[at]!, positions[at + 1]!, positions[at + 2]!];
  });
  for (const { object, position, orientation } of placements) {
    if (object.fixture) setFixturePose(simulation, object.rootBody, { position, orientation });
    else setJoint(simulation, object.joints.at(-1) ?? "", [...position, ...orientation]);
  }
  return placements;
}

/** Fixture poses known from elsewhere, by instance name, in place of drawn ones. */
export function setFixturePoses(
  scene: Scene,
  simulation: Simulation,
  poses: Readonly<Record<string, Pose>>,
): void {
  for (const { name, fixture, rootBody } of scene.objects) {
    const pose = poses[name];
    if (fixture && pose) setFixturePose(simulation, rootBody, pose);
  }
}

function placeRobot(robot: Robot, simulation: Simulation, random: Mt19937): void {
  if (robot.kind === "two arms") placeArms(robot, simulation, random);
  else placeArm(robot, simulation, random);
}

/** LIBERO draws a noise of size zero. */
function placeArm(
  { initialJointPositions, gripper }: ArmRobot,
  simulation: Simulation,
  random: Mt19937,
): void {
  for (const _ of initialJointPositions) random.normal();
  simulation.qpos.set(initialJointPositions, 0);
  simulation.qpos.set(gripper.initialJointPositions, initialJointPositions.length);
}

/** Each joint near its rest, fingers open. */
function placeArms({ rest, jitter, fingers }: TwoArmRobot, simulation: Simulation, random: Mt19937): void {
  for (const side of sides) {
    for (const [i, at] of rest[side].entries())
      setJoint(simulation, `robot0_${side}_joint${i + 1}`, [at + jitter * random.normal()]);
    for (const finger of [1, 2]) setJoint(simulation, `robot0_${side}_finger_joint${finger}`, [fingers.open]);
  }
}

function drawJoints(scene: Scene, simulation: Simulation, random: Mt19937): void {
  for (const { joints, range } of jointDraws(scene)) {
    const value = random.uniform(range[0], range[1]);
    for (const joint of joints) setJoint(simulation, joint, [value]);
  }
}

function setJoint(simulation: Simulation, joint: string, values: readonly number[]): void {
  const address = simulation.model.array("jnt_qposadr")[simulation.model.id("joint", joint)]!;
  simulation.qpos.set(values, address);
}

function setFixturePose(simulation: Simulation, body: string, { position, orientation }: Pose): void {
  const id = simulation.model.id("body", body);
  simulation.modelArray("body_pos").set(position, 3 * id);
  simulation.modelArray("body_quat").set(orientation, 4 * id);
}
