/** Where an arm and its gripper lie in the arrays of a compiled scene. */
import type { Model } from "#mujoco";
import type { ArmRobot } from "./pack.ts";

export interface ArmLayout {
  /** One entry per arm joint, in the robot's order. */
  readonly qposAddresses: readonly number[];
  readonly dofs: readonly number[];
  readonly actuators: readonly number[];
  readonly lowest: readonly number[]; // of the actuators' control
  readonly highest: readonly number[];
  readonly initialPositions: readonly number[];
  readonly gripSite: number;
  readonly handBody: number;
  readonly rootBody: number; // of the arm's kinematic tree
  /** Lower triangle of the arm's mass matrix: row, column and place in qM of each entry. */
  readonly massRows: readonly number[];
  readonly massColumns: readonly number[];
  readonly massAddresses: readonly number[];
}

export interface GripperLayout {
  readonly actuators: readonly number[];
  readonly lowest: readonly number[];
  readonly highest: readonly number[];
  readonly qposAddresses: readonly number[];
}

/** The scene puts the arm's actuators first and the gripper's next. */
export function armLayout(model: Model, robot: ArmRobot): ArmLayout {
  const count = robot.initialJointPositions.length;
  const actuators = Array.from({ length: count }, (_, i) => i);
  const gripSite = model.id("site", `gripper0_${robot.gripSite}`);
  const dofs = jointsOf(model, actuators).map((joint) => model.array("jnt_dofadr")[joint]!);
  return {
    ...controlRange(model, actuators),
    actuators,
    dofs,
    qposAddresses: positionsOf(model, actuators),
    initialPositions: robot.initialJointPositions,
    gripSite,
    handBody: model.id("body", `robot0_${robot.handBody}`),
    rootBody: model.array("body_rootid")[model.array("site_bodyid")[gripSite]!]!,
    ...massEntries(model, dofs),
  };
}

export function gripperLayout(model: Model, robot: ArmRobot): GripperLayout {
  const first = robot.initialJointPositions.length;
  const actuators = robot.gripper.closingSigns.map((_, i) => first + i);
  return {
    ...controlRange(model, actuators),
    actuators,
    qposAddresses: robot.gripper.initialJointPositions.map((_, i) => first + i),
  };
}

const jointsOf = (model: Model, actuators: readonly number[]): number[] =>
  actuators.map((actuator) => model.array("actuator_trnid")[2 * actuator]!);

const positionsOf = (model: Model, actuators: readonly number[]): number[] =>
  jointsOf(model, actuators).map((joint) => model.array("jnt_qposadr")[joint]!);

function controlRange(model: Model, actuators: readonly number[]) {
  const range = model.array("actuator_ctrlrange");
  return { lowest: actuators.map((i) => range[2 * i]!), highest: actuators.map((i) => range[2 * i + 1]!) };
}

/** qM holds each dof's row as a list that walks up the tree: the diagonal, then parents. */
function massEntries(model: Model, dofs: readonly number[]) {
  const [massRows, massColumns, massAddresses] = [[], [], []] as [number[], number[], number[]];
  const parents = model.array("dof_parentid");
  for (const [row, dof] of dofs.entries()) {
    let address = model.array("dof_Madr")[dof]!;
    for (let other = dof; other >= 0; other = parents[other]!) {
      const column = dofs.indexOf(other);
      if (column >= 0) {
        massRows.push(row);
        massColumns.push(column);
        massAddresses.push(address);
      }
      address++;
    }
  }
  return { massRows, massColumns, massAddresses };
}
