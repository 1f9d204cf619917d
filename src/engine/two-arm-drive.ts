/**
 * Drives two arms by position servos: each action moves the aim of each hand, and one damped least-squares step of inverse
 * kinematics (Wampler 1986, https://doi.org/10.1109/TSMC.1986.289285) moves the commanded joints towards it.
 *
 * The step is linearized at where the arm is, not at where it was commanded to be, and a part in the null space pulls towards
 * the joints at rest. Servos follow a straight line of commands through the physics steps of a control step: without it they
 * jerk and tear things out of the hand. An aim on a leash cannot run away from a hand that is held up.
 */
import type { Simulation } from "#mujoco";
import { type ControlSettings, type Side, sides, type TwoArmRobot } from "./pack.ts";
import type { RobotDrive } from "./robot-drive.ts";
import type { RobotReading } from "./robot-reading.ts";
import { ServoArm } from "./servo-arm.ts";

const perArm = 7; // translation, rotation, gripper

export class TwoArmDrive implements RobotDrive {
  readonly actionSize = sides.length * perArm;
  readonly readings: readonly RobotReading[];
  readonly arms: Readonly<Record<Side, ServoArm>>;
  readonly #simulation: Simulation;
  readonly #substeps: number;

  constructor(simulation: Simulation, robot: TwoArmRobot, control: ControlSettings) {
    this.#simulation = simulation;
    this.#substeps = control.substeps;
    const make = (side: Side) => new ServoArm(simulation, robot, side, control.period);
    this.arms = { left: make("left"), right: make("right") };
    this.readings = sides.map((side) => this.arms[side].reading);
  }

  reset(): void {
    this.#simulation.reset();
    for (const side of sides) this.arms[side].rest();
    this.#simulation.kinematics();
    this.hold();
  }

  hold(): void {
    for (const side of sides) this.arms[side].hold();
  }

  actuate(action: ArrayLike<number>, substep: number): void {
    if (substep === 0) {
      for (const [i, side] of sides.entries()) this.arms[side].aim(action, i * perArm);
    }
    for (const side of sides) this.arms[side].actuate((substep + 1) / this.#substeps, this.#substeps);
  }

  observe(): void {
    for (const side of sides) this.arms[side].observe();
  }

  get numberCount(): number {
    return sides.length * this.arms.left.numberCount;
  }

  numbers(): number[] {
    return sides.flatMap((side) => this.arms[side].numbers());
  }

  restore(numbers: Float64Array): void {
    const each = this.arms.left.numberCount;
    for (const [i, side] of sides.entries())
      this.arms[side].restore(numbers.subarray(i * each, (i + 1) * each));
  }
}
