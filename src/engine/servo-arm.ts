/** One of two arms with position servos: its aim, its commanded joints, and the step of inverse kinematics between them. */
import type { Simulation } from "#mujoco";
import { factor, solve } from "./cholesky.ts";
import type { Side, TwoArmRobot } from "./pack.ts";
import {
  emptyReading,
  type ReadingPlaces,
  type ReadingViews,
  type RobotReading,
  readHand,
} from "./robot-reading.ts";
import { matrixOfVector, multiplyRotations, vectorBetween } from "./rotation-vector.ts";

const metersPerRadian = 0.25; // how much a turn counts beside a move
const damping = 0.03; // of the least squares, in meters
const restPull = 0.1; // of the way to the joints at rest, per control step, in the null space
const largestStep = 0.3; // radians of a joint per control step
const rangeMargin = 0.02; // radians within a joint's range

export class ServoArm {
  /** Where the grip site should be; kept across control steps. Rotation row-major. */
  readonly aimPosition = new Float64Array(3);
  readonly aimRotation = new Float64Array(9);
  /** Views of where it is. */
  readonly gripPosition: Float64Array;
  readonly gripRotation: Float64Array;
  readonly reading: RobotReading;
  readonly fingerAddresses: readonly number[];
  readonly #robot: TwoArmRobot;
  readonly #simulation: Simulation;
  readonly #period: number;
  readonly #layout: Layout;
  readonly #places: ReadingPlaces;
  readonly #views: ReadingViews;
  readonly #rest: readonly number[];
  readonly #commanded: Float64Array; // [n]
  readonly #before: Float64Array; // commanded in the last control step
  #finger = 0; // commanded, in meters
  #fingerGoal = 0;
  readonly #scratch: Scratch;

  constructor(simulation: Simulation, robot: TwoArmRobot, side: Side, period: number) {
    this.#robot = robot;
    this.#simulation = simulation;
    this.#period = period;
    this.#rest = robot.rest[side];
    this.#layout = layoutOf(simulation, side, this.#rest.length);
    const { gripSite: site, joints, fingers } = this.#layout;
    this.gripPosition = simulation.array("site_xpos").subarray(3 * site, 3 * site + 3);
    this.gripRotation = simulation.array("site_xmat").subarray(9 * site, 9 * site + 9);
    this.fingerAddresses = fingers;
    this.#commanded = new Float64Array(joints.length);
    this.#before = new Float64Array(joints.length);
    this.#scratch = makeScratch(joints.length, simulation.model.sizes.nv!);
    this.#places = this.#layout;
    this.#views = {
      qpos: simulation.qpos,
      sitePositions: simulation.array("site_xpos"),
      bodyQuaternions: simulation.array("xquat"),
    };
    this.reading = emptyReading(fingers.length, joints.length);
  }

  /** The distance between the fingers. */
  get opening(): number {
    return this.fingerAddresses.reduce((sum, address) => sum + this.#simulation.qpos[address]!, 0);
  }

  /** Joints at rest, fingers open. */
  rest(): void {
    const { qpos } = this.#simulation;
    for (const [i, address] of this.#layout.joints.entries()) qpos[address] = this.#rest[i]!;
    for (const address of this.#layout.fingers) qpos[address] = this.#robot.fingers.open;
  }

  /** Wants to be where it is; kinematics must be fresh. */
  hold(): void {
    const { qpos } = this.#simulation;
    this.aimPosition.set(this.gripPosition);
    this.aimRotation.set(this.gripRotation);
    for (const [i, address] of this.#layout.joints.entries()) this.#commanded[i] = qpos[address]!;
    this.#before.set(this.#commanded);
    this.#finger = this.opening / 2;
    this.#fingerGoal = this.#finger;
    this.actuate(1, 1);
  }

  /** Moves the aim by the seven numbers of an action from `first` on, and the commanded joints towards it. */
  aim(action: ArrayLike<number>, first: number): void {
    const { translationPerUnit, rotationPerUnit, lowestAim } = this.#robot;
    const { turn, turned } = this.#scratch;
    const at = (i: number) => Math.min(1, Math.max(-1, action[first + i]!));
    for (let i = 0; i < 3; i++) this.aimPosition[i] = this.aimPosition[i]! + at(i) * translationPerUnit;
    matrixOfVector(at(3) * rotationPerUnit, at(4) * rotationPerUnit, at(5) * rotationPerUnit, turn);
    multiplyRotations(turn, this.aimRotation, turned);
    this.aimRotation.set(turned);
    this.#leash();
    this.aimPosition[2] = Math.max(this.aimPosition[2]!, lowestAim);
    this.#before.set(this.#commanded);
    this.#step();
    this.#moveFingers(at(6) > 0);
  }

  /** @param part of the control step that is done at its end, in (0, 1]. */
  actuate(part: number, substeps: number): void {
    const { ctrl } = this.#simulation;
    const { servos, grasps } = this.#layout;
    for (let k = 0; k < servos.length; k++) {
      const before = this.#before[k]!;
      ctrl[servos[k]!] = before + (this.#commanded[k]! - before) * part;
    }
    const most = (this.#robot.fingers.speed * this.#period) / substeps;
    this.#finger += Math.min(most, Math.max(-most, this.#fingerGoal - this.#finger));
    for (const actuator of grasps) ctrl[actuator] = this.#finger;
  }

  observe(): void {
    readHand(this.reading, this.#places, this.#views);
  }

  get numberCount(): number {
    return 3 + 9 + 1 + this.#commanded.length;
  }

  numbers(): number[] {
    return [...this.aimPosition, ...this.aimRotation, this.#finger, ...this.#commanded];
  }

  restore(numbers: Float64Array): void {
    this.aimPosition.set(numbers.subarray(0, 3));
    this.aimRotation.set(numbers.subarray(3, 12));
    this.#finger = numbers[12]!;
    this.#commanded.set(numbers.subarray(13));
  }

  #leash(): void {
    const [far, wide] = this.#robot.leash;
    const { vector, turn } = this.#scratch;
    for (let i = 0; i < 3; i++) vector[i] = this.aimPosition[i]! - this.gripPosition[i]!;
    const distance = Math.hypot(vector[0]!, vector[1]!, vector[2]!);
    if (distance > far)
      for (let i = 0; i < 3; i++) this.aimPosition[i] = this.gripPosition[i]! + vector[i]! * (far / distance);
    vectorBetween(this.aimRotation, this.gripRotation, vector);
    const angle = Math.hypot(vector[0]!, vector[1]!, vector[2]!);
    if (angle <= wide) return;
    const cut = wide / angle;
    matrixOfVector(vector[0]! * cut, vector[1]! * cut, vector[2]! * cut, turn);
    multiplyRotations(turn, this.gripRotation, this.aimRotation);
  }

  /** e = aim − hand − J·(commanded − actual); commanded += Jᵀ(J·Jᵀ + λ²)⁻¹(e − J·pull) + pull, cut to a largest step. */
  #step(): void {
    const { joints, ranges } = this.#layout;
    const { error, gram, pull, jacobian: j } = this.#scratch;
    const { qpos } = this.#simulation;
    const n = joints.length;
    this.#readJacobian();
    this.#readError(error);
    for (let k = 0; k < n; k++) pull[k] = restPull * (this.#rest[k]! - this.#commanded[k]!);
    for (let r = 0; r < 6; r++) {
      for (let k = 0; k < n; k++)
        error[r] = error[r]! - j[r * n + k]! * (this.#commanded[k]! - qpos[joints[k]!]! + pull[k]!);
      for (let c = 0; c <= r; c++) {
        let sum = r === c ? damping * damping : 0;
        for (let k = 0; k < n; k++) sum += j[r * n + k]! * j[c * n + k]!;
        gram[r * 6 + c] = sum;
      }
    }
    factor(gram, 6);
    solve(gram, 6, error);
    for (let k = 0; k < n; k++) {
      let move = pull[k]!;
      for (let r = 0; r < 6; r++) move += j[r * n + k]! * error[r]!;
      const wanted = this.#commanded[k]! + Math.min(largestStep, Math.max(-largestStep, move));
      const [low, high] = ranges[k]!;
      this.#commanded[k] = Math.min(high - rangeMargin, Math.max(low + rangeMargin, wanted));
    }
  }

  #readJacobian(): void {
    const { dofs, gripSite } = this.#layout;
    const { translations, rotations, jacobian } = this.#scratch;
    const [n, nv] = [dofs.length, translations.length / 3];
    this.#simulation.jacobian("site", gripSite, translations, rotations);
    for (let r = 0; r < 3; r++) {
      for (let k = 0; k < n; k++) {
        jacobian[r * n + k] = translations[r * nv + dofs[k]!]!;
        jacobian[(3 + r) * n + k] = metersPerRadian * rotations[r * nv + dofs[k]!]!;
      }
    }
  }

  #readError(error: Float64Array): void {
    const { vector } = this.#scratch;
    vectorBetween(this.aimRotation, this.gripRotation, vector);
    for (let i = 0; i < 3; i++) {
      error[i] = this.aimPosition[i]! - this.gripPosition[i]!;
      error[3 + i] = metersPerRadian * vector[i]!;
    }
  }

  /** Fingers start from where they are, so that letting go is immediate. */
  #moveFingers(close: boolean): void {
    const at = this.opening / this.fingerAddresses.length;
    this.#fingerGoal = close ? this.#robot.fingers.closed : this.#robot.fingers.open;
    this.#finger = close ? Math.min(this.#finger, at) : Math.max(this.#finger, at);
  }
}

/** Ids and addresses in the compiled model. */
interface Layout extends ReadingPlaces {
  readonly dofs: readonly number[];
  readonly ranges: readonly (readonly [number, number])[];
  readonly servos: readonly number[];
  readonly grasps: readonly number[];
}

function layoutOf({ model }: Simulation, side: Side, count: number): Layout {
  const name = (part: string) => `robot0_${side}_${part}`;
  const numbered = (size: number, part: string) =>
    Array.from({ length: size }, (_, i) => name(`${part}${i + 1}`));
  const ids = numbered(count, "joint").map((joint) => model.id("joint", joint));
  const fingers = numbered(2, "finger_joint").map((joint) => model.id("joint", joint));
  const actuators = (size: number, part: string) =>
    numbered(size, part).map((it) => model.id("actuator", it));
  const range = model.array("jnt_range");
  return {
    gripSite: model.id("site", name("grip")),
    handBody: model.id("body", name("hand")),
    joints: ids.map((id) => model.array("jnt_qposadr")[id]!),
    dofs: ids.map((id) => model.array("jnt_dofadr")[id]!),
    ranges: ids.map((id) => [range[2 * id]!, range[2 * id + 1]!] as const),
    fingers: fingers.map((id) => model.array("jnt_qposadr")[id]!),
    servos: actuators(count, "servo"),
    grasps: actuators(2, "grasp"),
  };
}

type Scratch = ReturnType<typeof makeScratch>;

const makeScratch = (n: number, nv: number) => ({
  turn: new Float64Array(9),
  turned: new Float64Array(9),
  vector: new Float64Array(3),
  error: new Float64Array(6),
  gram: new Float64Array(36),
  pull: new Float64Array(n),
  jacobian: new Float64Array(6 * n),
  translations: new Float64Array(3 * nv),
  rotations: new Float64Array(3 * nv),
});
