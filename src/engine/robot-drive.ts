/** What turns actions into the controls of a robot, step by step: the contract between a scene and the kinds of robots. */
import type { Simulation } from "#mujoco";
import { ArmDrive } from "./arm-drive.ts";
import type { RobotReading } from "./robot-reading.ts";
import type { Scene } from "./scene.ts";
import { TwoArmDrive } from "./two-arm-drive.ts";

export interface RobotDrive {
  readonly actionSize: number;
  /** What each hand feels, as of the last `observe`. */
  readonly readings: readonly RobotReading[];
  /** The simulation in its model's state, the robot at its initial joints, wanting to stay there. */
  reset(): void;
  /** The robot was put elsewhere: it wants to stay there. */
  hold(): void;
  /** Sets the controls, between the two halves of physics step `substep` of a control step. */
  actuate(action: ArrayLike<number>, substep: number): void;
  observe(): void;
  /** All that the next action depends on beside the simulation's state, and back to it. */
  numbers(): number[];
  readonly numberCount: number;
  /** Before the simulation's state is restored. */
  restore(numbers: Float64Array): void;
}

export function makeDrive({ robot, pack }: Scene, simulation: Simulation): RobotDrive {
  switch (robot.kind) {
    case "arm":
      return new ArmDrive(simulation, robot, pack.control);
    case "two arms":
      return new TwoArmDrive(simulation, robot, pack.control);
    default:
      return robot satisfies never;
  }
}
