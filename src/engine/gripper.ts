/**
 * A parallel gripper driven at constant speed: each physics step moves its target a little towards open or
 * closed, by the action's sign alone. The target survives a reset of the state, as in robosuite.
 */
import type { Simulation } from "#mujoco";
import type { GripperLayout } from "./arm-layout.ts";
import type { Gripper } from "./pack.ts";

export class GripperControl {
  /** In [-1, 1] per actuator. */
  readonly target: Float64Array;
  readonly #layout: GripperLayout;
  readonly #steps: readonly number[];
  readonly #ctrl: Float64Array;

  constructor(simulation: Simulation, layout: GripperLayout, { closingSigns, speed }: Gripper) {
    this.#layout = layout;
    this.#steps = closingSigns.map((sign) => sign * speed);
    this.#ctrl = simulation.ctrl;
    this.target = new Float64Array(closingSigns.length);
  }

  reset(): void {
    this.target.fill(0);
  }

  /** @param action positive closes, negative opens, zero holds. */
  actuate(action: number): void {
    const { actuators, lowest, highest } = this.#layout;
    const direction = Math.sign(action);
    for (let i = 0; i < actuators.length; i++) {
      const target = Math.min(1, Math.max(-1, this.target[i]! + this.#steps[i]! * direction));
      this.target[i] = target;
      const middle = 0.5 * (highest[i]! + lowest[i]!);
      this.#ctrl[actuators[i]!] = middle + 0.5 * (highest[i]! - lowest[i]!) * target;
    }
  }
}
