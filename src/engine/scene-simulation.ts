/**
 * One copy of a task's world that acts: actions in, physics, observations and success out.
 *
 * A control step is several physics steps (25 in LIBERO); in each, the robot's drive sees fresh kinematics between
 * the two halves of the step. robosuite computes the same forces with three forward passes per physics step; the halves
 * give bit-identical positions for a third of the work. Success and observations are read when and as
 * stale as LIBERO reads them (see `predicates.ts`, `observation-phase.ts`).
 */

import { Model, Simulation } from "#mujoco";
import type { Mt19937 } from "#random";
import { UserError } from "#registry";
import { HeldGoal } from "./held-goal.ts";
import { DriftingPhase, LastSubstep, type ObservationPhase } from "./observation-phase.ts";
import type { Placement } from "./placement.ts";
import { Predicates } from "./predicates.ts";
import { makeDrive, type RobotDrive } from "./robot-drive.ts";
import type { RobotReading } from "./robot-reading.ts";
import type { Scene } from "./scene.ts";
import { ownedByReset, type Pose, resetScene, setFixturePoses } from "./scene-reset.ts";
import { SiteLights } from "./site-lights.ts";

/** Called at the moment of an observation, for those who want pictures of it. */
export type OnObservation = (simulation: Simulation) => void;

export class SceneSimulation implements Disposable {
  readonly scene: Scene;
  readonly simulation: Simulation;
  readonly drive: RobotDrive;
  readonly predicates: Predicates;
  readonly #phase: ObservationPhase;
  readonly #lights: SiteLights;
  readonly #goal: HeldGoal;

  constructor(scene: Scene, model: Model) {
    this.scene = scene;
    this.simulation = new Simulation(model, { own: [...ownedByReset, "site_rgba"] });
    this.drive = makeDrive(scene, this.simulation);
    const { observation, substeps, holdSteps } = scene.pack.control;
    const drifting = () => new DriftingPhase(this.simulation.options().timestep!);
    this.#phase = observation === "last" ? new LastSubstep(substeps) : drifting();
    this.predicates = new Predicates(scene, this.simulation);
    this.#lights = new SiteLights(scene, this.simulation, this.predicates);
    this.#goal = new HeldGoal(this.predicates.goal(scene.task), holdSteps);
  }

  /** Numbers of one action. */
  get actionSize(): number {
    return this.drive.actionSize;
  }

  /** What the robot feels, of its only or its first hand. */
  get reading(): RobotReading {
    return this.drive.readings[0]!;
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
    this.drive.reset();
    const placements = resetScene(this.scene, this.simulation, random, repetitions);
    this.simulation.forward();
    this.drive.hold();
    this.#beginEpisode(onObservation);
    return placements;
  }

  /** A reset without random numbers: fixtures stand where told, or where the scene's text puts them. */
  resetWithPoses(poses: Readonly<Record<string, Pose>>, onObservation?: OnObservation): void {
    this.drive.reset();
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
    this.drive.hold();
    this.#goal.begin();
    this.#lights.update();
    this.#observe(true, onObservation);
  }

  /** One control step; returns whether the goal holds at its end. */
  step(action: ArrayLike<number>, onObservation?: OnObservation): boolean {
    checkAction(action, this.actionSize);
    for (let substep = 0; substep < this.scene.pack.control.substeps; substep++) {
      this.simulation.step1();
      this.drive.actuate(action, substep);
      this.simulation.step2();
      this.#observe(false, onObservation);
    }
    const success = this.#goal.count();
    this.#lights.update();
    return success;
  }

  /** Whether the goal holds now. */
  get success(): boolean {
    return this.#goal.holds;
  }

  /** All that the next step depends on, to go on from here later or elsewhere, bit for bit. */
  snapshot(): Float64Array {
    const own = ownedByReset.flatMap((name) => [...this.simulation.modelArray(name)]);
    const small = [...this.#phase.state, ...this.drive.numbers(), ...this.#goal.numbers()];
    return Float64Array.from([...small, ...own, ...this.simulation.state()]);
  }

  restore(snapshot: Float64Array): void {
    let at = 0;
    const take = (count: number) => snapshot.subarray(at, (at += count));
    const [elapsed = 0, sampled = 0] = take(2);
    this.#phase.state = [elapsed, sampled];
    const driven = take(this.drive.numberCount);
    this.#goal.restore(take(this.#goal.numberCount));
    for (const name of ownedByReset) {
      const own = this.simulation.modelArray(name);
      own.set(take(own.length));
    }
    this.drive.restore(driven);
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

  #beginEpisode(onObservation?: OnObservation): void {
    this.#phase.reset();
    this.#goal.begin();
    this.#lights.reset();
    this.#observe(true, onObservation);
  }

  #observe(force: boolean, onObservation?: OnObservation): void {
    if (!this.#phase.tick(force)) return;
    this.drive.observe();
    onObservation?.(this.simulation);
  }
}

function checkAction(action: ArrayLike<number>, actionSize: number): void {
  if (action.length !== actionSize) {
    throw new UserError(`an action has ${actionSize} numbers, not ${action.length}`);
  }
  for (let i = 0; i < actionSize; i++) {
    if (!Number.isFinite(action[i]!)) throw new UserError(`number ${i} of the action is ${action[i]}`);
  }
}
