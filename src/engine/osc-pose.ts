/**
 * Operational-space control of a hand's pose: robosuite's OSC_POSE, step for step.
 *
 * An action moves the goal of the hand by up to 5 cm and half a radian; torques pull the hand there as a
 * critically damped spring would, translation and rotation apart, and in the null space hold the arm near
 * its initial joints (Khatib 1987, http://khatib.stanford.edu/publications/pdfs/Khatib_1987_RA.pdf).
 * robosuite inverts with SVD; we solve with Cholesky factors and skip M⁻¹M, which agrees to 1e-13.
 *
 * Jacobian and mass matrix are read from MuJoCo's own arrays, so a control cycle makes no native call and
 * allocates nothing. Shapes: n arm joints; J [6, n]; M [n, n].
 */
import type { Simulation } from "#mujoco";
import type { ArmLayout } from "./arm-layout.ts";
import { factor, solve, solveLower } from "./cholesky.ts";
import { rotationOfVector } from "./rotation.ts";

const translationPerUnit = 0.05; // meters that an action of 1 asks for
const rotationPerUnit = 0.5; // radians
const nullSpaceStiffness = 10;

export class OscPose {
  /** Where the hand should be; kept across control steps. Rotation row-major. */
  readonly goalPosition = new Float64Array(3);
  readonly goalRotation = new Float64Array(9);
  /** Where the hand was when `observe` last looked. */
  readonly position = new Float64Array(3);
  readonly rotation = new Float64Array(9);
  readonly #arm: ArmLayout;
  readonly #stiffness: number;
  readonly #damping: number;
  readonly #velocity = new Float64Array(6); // of the hand: linear, angular
  readonly #jointPositions: Float64Array;
  readonly #jointVelocities: Float64Array;
  readonly #jacobian: Float64Array;
  readonly #mass: Float64Array;
  readonly #scratch: Scratch;
  readonly #views: Views;

  constructor(simulation: Simulation, arm: ArmLayout, stiffness: number) {
    const n = arm.dofs.length;
    this.#arm = arm;
    this.#stiffness = stiffness;
    this.#damping = 2 * Math.sqrt(stiffness);
    this.#jointPositions = new Float64Array(n);
    this.#jointVelocities = new Float64Array(n);
    this.#jacobian = new Float64Array(6 * n);
    this.#mass = new Float64Array(n * n);
    this.#scratch = makeScratch(n);
    this.#views = {
      qpos: simulation.qpos,
      qvel: simulation.qvel,
      ctrl: simulation.ctrl,
      sitePositions: simulation.array("site_xpos"),
      siteRotations: simulation.array("site_xmat"),
      motionAxes: simulation.array("cdof"),
      centresOfMass: simulation.array("subtree_com"),
      inertia: simulation.array("qM"),
      bias: simulation.array("qfrc_bias"),
    };
  }

  /** Reads pose, velocity, Jacobian and mass matrix. Kinematics must be fresh (`step1` or `forward`). */
  observe(): void {
    const { qpos, qvel, sitePositions, siteRotations } = this.#views;
    const { gripSite, dofs, qposAddresses } = this.#arm;
    for (let i = 0; i < 3; i++) this.position[i] = sitePositions[3 * gripSite + i]!;
    for (let i = 0; i < 9; i++) this.rotation[i] = siteRotations[9 * gripSite + i]!;
    for (let k = 0; k < dofs.length; k++) {
      this.#jointPositions[k] = qpos[qposAddresses[k]!]!;
      this.#jointVelocities[k] = qvel[dofs[k]!]!;
    }
    this.#readJacobian();
    this.#readMass();
  }

  /** What the controller wants when it has just been made: to stay where it is. */
  holdPose(): void {
    this.goalPosition.set(this.position);
    this.goalRotation.set(this.rotation);
  }

  /** Moves the goal relative to the observed pose. Without rotation in the action the old goal rotation stays. */
  setGoal(action: ArrayLike<number>): void {
    for (let i = 0; i < 3; i++)
      this.goalPosition[i] = this.position[i]! + clip(action[i]!) * translationPerUnit;
    const x = clip(action[3]!) * rotationPerUnit;
    const y = clip(action[4]!) * rotationPerUnit;
    const z = clip(action[5]!) * rotationPerUnit;
    if (x === 0 && y === 0 && z === 0) return;
    const turn = this.#scratch.turn;
    rotationOfVector(x, y, z, turn);
    multiply3(turn, this.rotation, this.goalRotation);
  }

  /** Writes the arm's torques to the controls. */
  actuate(): void {
    const { force, wrench } = this.#scratch;
    this.#desiredAcceleration(force);
    this.#reflectInertia(force, wrench);
    this.#writeTorques(wrench);
  }

  /** J[:, k] is the hand's motion per unit of joint k: MuJoCo's motion axis moved to the grip site (as mj_jac does). */
  #readJacobian(): void {
    const { motionAxes, centresOfMass } = this.#views;
    const { dofs, rootBody } = this.#arm;
    const [j, v, n] = [this.#jacobian, this.#velocity, dofs.length];
    const x = this.position[0]! - centresOfMass[3 * rootBody]!;
    const y = this.position[1]! - centresOfMass[3 * rootBody + 1]!;
    const z = this.position[2]! - centresOfMass[3 * rootBody + 2]!;
    v.fill(0);
    for (let k = 0; k < n; k++) {
      const at = 6 * dofs[k]!;
      const a = motionAxes[at]!;
      const b = motionAxes[at + 1]!;
      const c = motionAxes[at + 2]!;
      j[k] = motionAxes[at + 3]! + (b * z - c * y);
      j[n + k] = motionAxes[at + 4]! + (c * x - a * z);
      j[2 * n + k] = motionAxes[at + 5]! + (a * y - b * x);
      j[3 * n + k] = a;
      j[4 * n + k] = b;
      j[5 * n + k] = c;
      for (let r = 0; r < 6; r++) v[r] = v[r]! + j[r * n + k]! * this.#jointVelocities[k]!;
    }
  }

  #readMass(): void {
    const { massRows, massColumns, massAddresses, dofs } = this.#arm;
    const { inertia } = this.#views;
    const n = dofs.length;
    for (let i = 0; i < massAddresses.length; i++) {
      const value = inertia[massAddresses[i]!]!;
      this.#mass[massRows[i]! * n + massColumns[i]!] = value;
      this.#mass[massColumns[i]! * n + massRows[i]!] = value;
    }
  }

  /** Spring and damper between hand and goal: linear [3], angular [3]. */
  #desiredAcceleration(out: Float64Array): void {
    const [kp, kd, v] = [this.#stiffness, this.#damping, this.#velocity];
    const [r, g] = [this.rotation, this.goalRotation];
    out.fill(0);
    // Half the sum of cross products of the axes: sin(angle) times the axis between the two rotations.
    for (let c = 0; c < 3; c++) {
      out[3] = out[3]! + (r[3 + c]! * g[6 + c]! - r[6 + c]! * g[3 + c]!);
      out[4] = out[4]! + (r[6 + c]! * g[c]! - r[c]! * g[6 + c]!);
      out[5] = out[5]! + (r[c]! * g[3 + c]! - r[3 + c]! * g[c]!);
    }
    for (let i = 0; i < 3; i++) {
      out[i] = kp * (this.goalPosition[i]! - this.position[i]!) - kd * v[i]!;
      out[3 + i] = kp * (0.5 * out[3 + i]!) - kd * v[3 + i]!;
    }
  }

  /** wrench = [Λp·F; Λo·T] − Λ·J·a: desired motion through the hand's inertia, less the null-space pull's share. */
  #reflectInertia(force: Float64Array, wrench: Float64Array): void {
    const { massFactor, half, inverse, linear, angular, three, pull } = this.#scratch;
    const n = this.#arm.dofs.length;
    massFactor.set(this.#mass);
    factor(massFactor, n);
    // Rows of `half` are L⁻¹·J[r], so that J·M⁻¹·Jᵀ = half·halfᵀ.
    half.set(this.#jacobian);
    for (let r = 0; r < 6; r++) solveLower(massFactor, n, half, r * n);
    for (let r = 0; r < 6; r++)
      for (let c = 0; c <= r; c++) inverse[r * 6 + c] = dot(half, r * n, half, c * n, n);
    for (let r = 0; r < 3; r++) {
      for (let c = 0; c <= r; c++) {
        linear[r * 3 + c] = inverse[r * 6 + c]!;
        angular[r * 3 + c] = inverse[(r + 3) * 6 + c + 3]!;
      }
    }
    solveThree(linear, force, 0, three, wrench);
    solveThree(angular, force, 3, three, wrench);
    this.#nullSpacePull();
    const { share } = this.#scratch;
    for (let r = 0; r < 6; r++) share[r] = dot(this.#jacobian, r * n, pull, 0, n);
    factor(inverse, 6);
    solve(inverse, 6, share);
    for (let r = 0; r < 6; r++) wrench[r] = wrench[r]! - share[r]!;
  }

  #nullSpacePull(): void {
    const { pull } = this.#scratch;
    const damping = 2 * Math.sqrt(nullSpaceStiffness);
    for (let k = 0; k < pull.length; k++) {
      const error = this.#arm.initialPositions[k]! - this.#jointPositions[k]!;
      pull[k] = nullSpaceStiffness * error - damping * this.#jointVelocities[k]!;
    }
  }

  #writeTorques(wrench: Float64Array): void {
    const { actuators, dofs, lowest, highest } = this.#arm;
    const { ctrl, bias } = this.#views;
    const { pull } = this.#scratch;
    const n = dofs.length;
    for (let k = 0; k < n; k++) {
      let torque = bias[dofs[k]!]! + dot(this.#mass, k * n, pull, 0, n);
      for (let r = 0; r < 6; r++) torque += this.#jacobian[r * n + k]! * wrench[r]!;
      ctrl[actuators[k]!] = Math.min(highest[k]!, Math.max(lowest[k]!, torque));
    }
  }
}

interface Views {
  readonly qpos: Float64Array;
  readonly qvel: Float64Array;
  readonly ctrl: Float64Array;
  readonly sitePositions: Float64Array;
  readonly siteRotations: Float64Array;
  readonly motionAxes: Float64Array; // [nv, 6] about the center of mass of the tree: angular, linear
  readonly centresOfMass: Float64Array;
  readonly inertia: Float64Array;
  readonly bias: Float64Array;
}

type Scratch = ReturnType<typeof makeScratch>;

const makeScratch = (n: number) => ({
  turn: new Float64Array(9),
  force: new Float64Array(6),
  wrench: new Float64Array(6),
  share: new Float64Array(6),
  pull: new Float64Array(n),
  massFactor: new Float64Array(n * n),
  half: new Float64Array(6 * n),
  inverse: new Float64Array(36),
  linear: new Float64Array(9),
  angular: new Float64Array(9),
  three: new Float64Array(3),
});

const clip = (value: number): number => Math.min(1, Math.max(-1, value));

function dot(a: Float64Array, aStart: number, b: Float64Array, bStart: number, n: number): number {
  let sum = 0;
  for (let k = 0; k < n; k++) sum += a[aStart + k]! * b[bStart + k]!;
  return sum;
}

/** out[start…start+3] = matrix⁻¹ · b[start…start+3]; destroys `matrix`. */
function solveThree(
  matrix: Float64Array,
  b: Float64Array,
  start: number,
  three: Float64Array,
  out: Float64Array,
): void {
  for (let i = 0; i < 3; i++) three[i] = b[start + i]!;
  factor(matrix, 3);
  solve(matrix, 3, three);
  for (let i = 0; i < 3; i++) out[start + i] = three[i]!;
}

function multiply3(a: Float64Array, b: Float64Array, out: Float64Array): void {
  for (let r = 0; r < 3; r++) {
    for (let c = 0; c < 3; c++) {
      out[3 * r + c] = a[3 * r]! * b[c]! + a[3 * r + 1]! * b[3 + c]! + a[3 * r + 2]! * b[6 + c]!;
    }
  }
}
