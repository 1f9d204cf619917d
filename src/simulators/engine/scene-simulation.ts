/**
 * One copy of a task's world that acts: actions in, physics, observations and success out.
 *
 * A control step is 25 physics steps; in each, the controller sees fresh kinematics between the two halves
 * of the step. robosuite computes the same forces with three forward passes per physics step; the halves
 * give bit-identical positions for a third of the work. Success and observations are read when and as
 * stale as LIBERO reads them (see `predicates.ts`, `observation-phase.ts`).
 */

import { Model, Simulation } from "#mujoco";
import type { Mt19937 } from "#random";
import { UserError } from "#registry";
import { type ArmLayout, armLayout, type GripperLayout, gripperLayout } from "./arm-layout.ts";
import { GripperControl } from "./gripper.ts";
import { DriftingPhase, LastSubstep, type ObservationPhase } from "./observation-phase.ts";
import { OscPose } from "./osc-pose.ts";
import type { Placement } from "./placement.ts";
import { type Condition, Predicates } from "./predicates.ts";
import type { Scene } from "./scene.ts";
import { ownedByReset, type Pose, resetScene, setFixturePoses } from "./scene-reset.ts";
import { SiteLights } from "./site-lights.ts";

export const actionSize = 7; // translation, rotation, gripper

/** What the robot feels, at the last observation. Overwritten by the next: copy what must stay. */
export interface RobotReading {
  readonly handPosition: Float64Array; // [3], meters
  readonly handQuaternion: Float64Array; // [4], x, y, z, w
  readonly fingers: Float64Array; // positions of the gripper's joints
  readonly joints: Float64Array; // positions of the arm's joints
}

/** Called at the moment of an observation, for those who want pictures of it. */
export type OnObservation = (simulation: Simulation) => void;

export class SceneSimulation implements Disposable {
  readonly scene: Scene;
  readonly simulation: Simulation;
  readonly reading: RobotReading;
  readonly predicates: Predicates;
  readonly #arm: ArmLayout;
  readonly #fingers: GripperLayout;
  readonly #controller: OscPose;
  readonly #gripper: GripperControl;
  readonly #phase: ObservationPhase;
  readonly #lights: SiteLights;
  readonly #goal: Condition;
  readonly #handQuaternions: Float64Array;
  /** The controller was made at the reset pose and has not looked since. */
  #stale = false;

  constructor(scene: Scene, model: Model) {
    this.scene = scene;
    this.simulation = new Simulation(model, { own: [...ownedByReset, "site_rgba"] });
    this.#arm = armLayout(model, scene.robot);
    this.#fingers = gripperLayout(model, scene.robot);
    this.#controller = new OscPose(this.simulation, this.#arm, scene.pack.control.stiffness);
    this.#gripper = new GripperControl(this.simulation, this.#fingers, scene.robot.gripper);
    const { observation, substeps } = scene.pack.control;
    const drifting = () => new DriftingPhase(this.simulation.options().timestep!);
    this.#phase = observation === "last" ? new LastSubstep(substeps) : drifting();
    this.predicates = new Predicates(scene, this.simulation);
    this.#lights = new SiteLights(scene, this.simulation, this.predicates);
    this.#goal = this.predicates.goal(scene.task);
    this.#handQuaternions = this.simulation.array("xquat");
    this.reading = emptyReading(this.#arm, this.#fingers);
  }

  /** Compiles a scene, or finds it compiled. */
  static compile(scene: Scene, cacheFolder?: string): Model {
    return Model.fromXml(scene.xml, { name: scene.task.file, ...(cacheFolder && { cacheFolder }) });
  }

  /**
   * LIBERO's `reset()`: a start drawn from the stream. `repetitions` is how often joint draws are made
   * (see `scene-reset.ts`): 1 after a fresh construction, one more for each reset before.
   */
  reset(random: Mt19937, repetitions: number, onObservation?: OnObservation): Placement[] {
    this.#makeController();
    const placements = resetScene(this.scene, this.simulation, random, repetitions);
    this.simulation.forward();
    this.#beginEpisode(onObservation);
    return placements;
  }

  /** A reset without random numbers: fixtures stand where told, or where the scene's text puts them. */
  resetWithPoses(poses: Readonly<Record<string, Pose>>, onObservation?: OnObservation): void {
    this.#makeController();
    this.simulation.reset();
    for (const name of ownedByReset) this.simulation.modelArray(name).set(this.simulation.model.array(name));
    setFixturePoses(this.scene, this.simulation, poses);
    this.simulation.forward();
    this.#beginEpisode(onObservation);
  }

  /** LIBERO's `set_init_state`: time, qpos and qvel in one row; everything else stays as the reset left it. */
  setState(state: ArrayLike<number>, onObservation?: OnObservation): void {
    const { qpos, qvel } = this.simulation;
    const size = 1 + qpos.length + qvel.length;
    if (state.length !== size) {
      throw new UserError(`${this.scene.task.file}: a start has ${size} numbers, not ${state.length}`);
    }
    this.simulation.time = state[0]!;
    for (let i = 0; i < qpos.length; i++) qpos[i] = state[1 + i]!;
    for (let i = 0; i < qvel.length; i++) qvel[i] = state[1 + qpos.length + i]!;
    this.simulation.forward();
    if (!this.scene.pack.control.staleFirstStep) {
      this.#controller.observe();
      this.#controller.holdPose();
    }
    this.#lights.update();
    this.#observe(true, onObservation);
  }

  /** One control step; returns whether the goal holds at its end. */
  step(action: ArrayLike<number>, onObservation?: OnObservation): boolean {
    checkAction(action);
    for (let substep = 0; substep < this.scene.pack.control.substeps; substep++) {
      this.simulation.step1();
      if (this.#stale) this.#stale = false;
      else this.#controller.observe();
      if (substep === 0) this.#controller.setGoal(action);
      this.#controller.actuate();
      this.#gripper.actuate(action[actionSize - 1]!);
      this.simulation.step2();
      this.#observe(false, onObservation);
    }
    const success = this.#goal();
    this.#lights.update();
    return success;
  }

  /** Whether the goal holds now. */
  get success(): boolean {
    return this.#goal();
  }

  /** All that the next step depends on, to go on from here later or elsewhere, bit for bit. */
  snapshot(): Float64Array {
    const { goalPosition, goalRotation } = this.#controller;
    const own = ownedByReset.flatMap((name) => [...this.simulation.modelArray(name)]);
    const small = [
      ...this.#phase.state,
      this.#stale ? 1 : 0,
      ...goalPosition,
      ...goalRotation,
      ...this.#gripper.target,
    ];
    return Float64Array.from([...small, ...own, ...this.simulation.state()]);
  }

  restore(snapshot: Float64Array): void {
    let at = 0;
    const take = (count: number) => snapshot.subarray(at, (at += count));
    const [elapsed = 0, sampled = 0, stale] = take(3);
    this.#phase.state = [elapsed, sampled];
    this.#controller.goalPosition.set(take(3));
    this.#controller.goalRotation.set(take(9));
    this.#gripper.target.set(take(this.#gripper.target.length));
    for (const name of ownedByReset) {
      const own = this.simulation.modelArray(name);
      own.set(take(own.length));
    }
    if (stale === 1) this.#makeController(); // before the state: it moves the arm to look from the reset pose
    this.#stale = stale === 1;
    this.simulation.setState(snapshot.subarray(at));
    this.simulation.forward();
    this.#lights.reset();
    this.#lights.update();
  }

  dispose(): void {
    this.simulation.dispose();
  }

  [Symbol.dispose](): void {
    this.dispose();
  }

  /** robosuite makes its controller during a reset, with the arm at its initial joints and the rest at the model's. */
  #makeController(): void {
    const { qposAddresses, initialPositions } = this.#arm;
    this.simulation.reset();
    for (const [i, address] of qposAddresses.entries()) this.simulation.qpos[address] = initialPositions[i]!;
    this.simulation.kinematics();
    this.#controller.observe();
    this.#controller.holdPose();
    this.#stale = this.scene.pack.control.staleFirstStep;
    this.#gripper.reset();
  }

  #beginEpisode(onObservation?: OnObservation): void {
    this.#phase.reset();
    this.#lights.reset();
    this.#observe(true, onObservation);
  }

  #observe(force: boolean, onObservation?: OnObservation): void {
    if (!this.#phase.tick(force)) return;
    const { qpos } = this.simulation;
    const { handPosition, handQuaternion, fingers, joints } = this.reading;
    const positions = this.simulation.array("site_xpos");
    const [site, hand] = [3 * this.#arm.gripSite, 4 * this.#arm.handBody];
    for (let i = 0; i < 3; i++) handPosition[i] = positions[site + i]!;
    for (let i = 0; i < 4; i++) handQuaternion[i] = this.#handQuaternions[hand + ((i + 1) % 4)]!;
    for (let i = 0; i < fingers.length; i++) fingers[i] = qpos[this.#fingers.qposAddresses[i]!]!;
    for (let i = 0; i < joints.length; i++) joints[i] = qpos[this.#arm.qposAddresses[i]!]!;
    onObservation?.(this.simulation);
  }
}

const emptyReading = (arm: ArmLayout, gripper: GripperLayout): RobotReading => ({
  handPosition: new Float64Array(3),
  handQuaternion: new Float64Array(4),
  fingers: new Float64Array(gripper.qposAddresses.length),
  joints: new Float64Array(arm.qposAddresses.length),
});

function checkAction(action: ArrayLike<number>): void {
  if (action.length !== actionSize) {
    throw new UserError(`an action has ${actionSize} numbers, not ${action.length}`);
  }
  for (let i = 0; i < actionSize; i++) {
    if (!Number.isFinite(action[i]!)) throw new UserError(`number ${i} of the action is ${action[i]}`);
  }
}
