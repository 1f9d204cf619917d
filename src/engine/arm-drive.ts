/**
 * Drives one arm and its gripper by operational-space control, as robosuite does.
 *
 * The controller sees fresh kinematics in every physics step. One that was just made acts in its first step from the pose it
 * was made at, where the pack says so: LIBERO's recordings show it.
 */
import type { Simulation } from "#mujoco";
import { type ArmLayout, armLayout, gripperLayout } from "./arm-layout.ts";
import { GripperControl } from "./gripper.ts";
import { OscPose } from "./osc-pose.ts";
import type { ArmRobot, ControlSettings } from "./pack.ts";
import type { RobotDrive } from "./robot-drive.ts";
import {
  emptyReading,
  type ReadingPlaces,
  type ReadingViews,
  type RobotReading,
  readHand,
} from "./robot-reading.ts";

export const armActionSize = 7; // translation, rotation, gripper

export class ArmDrive implements RobotDrive {
  readonly actionSize = armActionSize;
  readonly readings: readonly [RobotReading];
  readonly #simulation: Simulation;
  readonly #staleFirstStep: boolean;
  readonly #arm: ArmLayout;
  readonly #controller: OscPose;
  readonly #gripper: GripperControl;
  readonly #places: ReadingPlaces;
  readonly #views: ReadingViews;
  /** The controller was made at the reset pose and has not looked since. */
  #stale = false;

  constructor(simulation: Simulation, robot: ArmRobot, { staleFirstStep }: ControlSettings) {
    const { model } = simulation;
    const fingers = gripperLayout(model, robot);
    this.#simulation = simulation;
    this.#staleFirstStep = staleFirstStep;
    this.#arm = armLayout(model, robot);
    this.#controller = new OscPose(simulation, this.#arm, robot.stiffness);
    this.#gripper = new GripperControl(simulation, fingers, robot.gripper);
    this.#places = { ...this.#arm, fingers: fingers.qposAddresses, joints: this.#arm.qposAddresses };
    this.#views = {
      qpos: simulation.qpos,
      sitePositions: simulation.array("site_xpos"),
      bodyQuaternions: simulation.array("xquat"),
    };
    this.readings = [emptyReading(this.#places.fingers.length, this.#places.joints.length)];
  }

  /** robosuite makes its controller during a reset, with the arm at its initial joints and the rest at the model's. */
  reset(): void {
    const { qposAddresses, initialPositions } = this.#arm;
    this.#simulation.reset();
    for (const [i, address] of qposAddresses.entries()) this.#simulation.qpos[address] = initialPositions[i]!;
    this.#simulation.kinematics();
    this.#controller.observe();
    this.#controller.holdPose();
    this.#stale = this.#staleFirstStep;
    this.#gripper.reset();
  }

  hold(): void {
    if (this.#staleFirstStep) return;
    this.#controller.observe();
    this.#controller.holdPose();
  }

  actuate(action: ArrayLike<number>, substep: number): void {
    if (this.#stale) this.#stale = false;
    else this.#controller.observe();
    if (substep === 0) this.#controller.setGoal(action);
    this.#controller.actuate();
    this.#gripper.actuate(action[armActionSize - 1]!);
  }

  observe(): void {
    readHand(this.readings[0], this.#places, this.#views);
  }

  get numberCount(): number {
    return 1 + 3 + 9 + this.#gripper.target.length;
  }

  numbers(): number[] {
    const { goalPosition, goalRotation } = this.#controller;
    return [this.#stale ? 1 : 0, ...goalPosition, ...goalRotation, ...this.#gripper.target];
  }

  restore(numbers: Float64Array): void {
    const stale = numbers[0] === 1;
    this.#controller.goalPosition.set(numbers.subarray(1, 4));
    this.#controller.goalRotation.set(numbers.subarray(4, 13));
    this.#gripper.target.set(numbers.subarray(13));
    if (stale) this.reset(); // moves the arm, to look from the reset pose
    this.#stale = stale;
  }
}
