/**
 * One world in motion: positions, velocities, controls, and the steps that change them.
 *
 * Arrays are views of MuJoCo's own memory, under MuJoCo's names. `step1`, a controller, `step2` is one
 * `step` with the controller seeing fresh kinematics, at no extra physics.
 */
import { UserError } from "#registry";
import { type ArrayView, ArrayViews, type DataArrays, type ModelArrays } from "./arrays.ts";
import type { Model } from "./model.ts";
import { addon, type SimulationHandle } from "./native.ts";
import { type StatePart, statePartBits } from "./state-parts.ts";

export interface SimulationOptions {
  /** Arrays of the model that this simulation may write, by name; it gets its own copy of them. */
  readonly own?: readonly string[];
}

export interface Contact {
  readonly distance: number; // meters; negative when the geoms overlap
  readonly position: Float64Array; // [3]
  readonly frame: Float64Array; // [9], rows; the first is the normal, from geom 1 to geom 2
  readonly force: Float64Array; // [6], force and torque in that frame
}

export class Simulation implements Disposable {
  readonly model: Model;
  readonly qpos: Float64Array;
  readonly qvel: Float64Array;
  readonly ctrl: Float64Array;
  readonly #handle: SimulationHandle;
  readonly #data: ArrayViews;
  readonly #owned: ArrayViews;
  #pairs = new Int32Array(256);
  #disposed = false;

  constructor(model: Model, options: SimulationOptions = {}) {
    for (const name of options.own ?? []) model.shape(name); // names a wrong one before anything is made
    this.model = model;
    this.#handle = addon().createSimulation(model.handle, options.own ?? []);
    const memory = addon().simulationMemory(this.#handle);
    this.#data = new ArrayViews("a simulation", memory.buffer, memory.fields);
    this.#owned = new ArrayViews(
      "this simulation's own part of the model",
      memory.ownedBuffer,
      memory.ownedFields,
    );
    this.qpos = this.array("qpos");
    this.qvel = this.array("qvel");
    this.ctrl = this.array("ctrl");
  }

  /** A view of one of mjData's arrays, row-major. */
  array<Name extends keyof DataArrays>(name: Name): DataArrays[Name];
  array(name: string): ArrayView;
  array(name: string): ArrayView {
    this.handle;
    return this.#data.get(name);
  }

  /** A view of one of the model's arrays as this simulation sees it; writable if it is in `own`. */
  modelArray<Name extends keyof ModelArrays>(name: Name): ModelArrays[Name];
  modelArray(name: string): ArrayView;
  modelArray(name: string): ArrayView {
    this.handle;
    return this.#owned.has(name) ? this.#owned.get(name) : this.model.array(name);
  }

  get time(): number {
    return addon().getTime(this.handle);
  }

  set time(seconds: number) {
    addon().setTime(this.handle, seconds);
  }

  step(count = 1): void {
    addon().step(this.handle, count);
  }

  /** The first half of a step: everything that depends on positions and velocities, not on controls. */
  step1(): void {
    addon().step1(this.handle);
  }

  /** The second half: forces of the controls, acceleration, integration. */
  step2(): void {
    addon().step2(this.handle);
  }

  /** Computes everything that follows from the state, without moving time. */
  forward(): void {
    addon().forward(this.handle);
  }

  /** Computes poses, motion axes and the mass matrix only: what needs no contacts, at a small part of `forward`'s cost. */
  kinematics(): void {
    addon().kinematics(this.handle);
  }

  /** Back to the model's initial state, or to one of its keyframes by name. */
  reset(keyframe?: string): void {
    if (keyframe === undefined) addon().reset(this.handle);
    else addon().resetToKeyframe(this.handle, this.model.id("keyframe", keyframe));
  }

  /** Jacobians [3, nv] of a point's velocity and of its body's rotation, at `kind`'s origin. */
  jacobian(
    kind: "body" | "centreOfMass" | "geom" | "site",
    id: number,
    translation: Float64Array,
    rotation: Float64Array,
  ): void {
    if (kind === "site") addon().jacobianOfSite(this.handle, id, translation, rotation);
    else if (kind === "body") addon().jacobianOfBody(this.handle, id, translation, rotation);
    else if (kind === "geom") addon().jacobianOfGeom(this.handle, id, translation, rotation);
    else addon().jacobianOfCentreOfMass(this.handle, id, translation, rotation);
  }

  /** The joint-space mass matrix as a dense [nv, nv]. */
  fullMassMatrix(out: Float64Array): void {
    addon().fullMassMatrix(this.handle, out);
  }

  /** Pairs of geom ids that touch: [2·n], valid until the next call. */
  contactPairs(): Int32Array {
    const count = addon().contactPairs(this.handle, this.#pairs);
    if (2 * count > this.#pairs.length) {
      this.#pairs = new Int32Array(4 * count);
      addon().contactPairs(this.handle, this.#pairs);
    }
    return this.#pairs.subarray(0, 2 * count);
  }

  /** One contact in full, by its place among `contactPairs`. */
  contact(index: number): Contact {
    const numbers = new Float64Array(19);
    addon().contactAt(this.handle, index, numbers);
    return {
      distance: numbers[0]!,
      position: numbers.subarray(1, 4),
      frame: numbers.subarray(4, 13),
      force: numbers.subarray(13, 19),
    };
  }

  /** A copy of the state. "integration" is what a bitwise continuation needs. */
  state(part: StatePart = "integration", out?: Float64Array): Float64Array {
    const size = addon().stateSize(this.handle, statePartBits[part]);
    const target = out ?? new Float64Array(size);
    addon().getState(this.handle, statePartBits[part], target);
    return target;
  }

  setState(state: Float64Array, part: StatePart = "integration"): void {
    const size = addon().stateSize(this.handle, statePartBits[part]);
    if (state.length !== size) {
      throw new UserError(`a state (${part}) of ${this.model.name} has ${size} numbers, not ${state.length}`);
    }
    addon().setState(this.handle, statePartBits[part], state);
  }

  /** MuJoCo's options by name (timestep, iterations, impratio, …), as this simulation has them. */
  options(): Readonly<Record<string, number>> {
    return addon().getOptions(this.handle);
  }

  /** Changes an option of this simulation only. */
  setOption(name: string, value: number): void {
    addon().setOption(this.handle, name, value);
  }

  setGravity(x: number, y: number, z: number): void {
    addon().setGravity(this.handle, x, y, z);
  }

  /** For `Renderer`; throws once the simulation is disposed. */
  get handle(): SimulationHandle {
    if (this.#disposed) throw new Error("the simulation was disposed and cannot be used any more");
    return this.#handle;
  }

  /** Frees the memory at once; views become empty. */
  dispose(): void {
    if (this.#disposed) return;
    this.#disposed = true;
    addon().disposeSimulation(this.#handle);
  }

  [Symbol.dispose](): void {
    this.dispose();
  }
}

/** What MuJoCo warned about on this thread since the last call, such as an unstable simulation. */
export const takeWarnings = (): string[] => addon().takeWarnings();

/** The version of the MuJoCo library that is loaded. */
export const mujocoVersion = (): string => addon().version();
