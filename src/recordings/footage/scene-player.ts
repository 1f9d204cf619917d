/**
 * Scenes to record in: episodes of a suite that anyone may act in, step by step, with a picture of every moment.
 *
 * Unlike the vector env it draws fresh starts, shows every frame and answers the goals of all tasks. An episode depends
 * on its job and its actions alone.
 */

import { assembleScene, PackCamera, readBddl, robotState, type Scene, SceneSimulation } from "#engine";
import type { Model } from "#mujoco";
import type { Mt19937 } from "#random";
import { UserError } from "#registry";
import { findSuite, type Suite } from "#simulators";
import { beginJob, type EpisodeJob } from "../demonstrations/begin-job.ts";
import { type GoalMask, goalMask } from "../demonstrations/goal-mask.ts";
import type { FrameRow } from "../demonstrations/recorder.ts";

interface Stage {
  readonly scene: Scene;
  readonly model: Model;
  readonly eye: PackCamera;
  readonly idle: PlayedScene[];
}

/** Makes and keeps the scenes of a suite; several episodes of a task may play at once. */
export class ScenePlayer implements Disposable {
  readonly suite: Suite;
  readonly #size: number;
  readonly #stages = new Map<number, Stage>();
  readonly #scenes: PlayedScene[] = [];

  /** `size`: width and height of pictures. */
  constructor(suite: string, size: number) {
    this.suite = findSuite(suite);
    this.#size = size;
  }

  get sentences(): readonly string[] {
    return this.suite.tasks.map(({ language }) => language);
  }

  /** A scene of this task for one episode; give it back with `done`. */
  open(task: number): PlayedScene {
    const stage = this.#stage(task);
    const known = stage.idle.pop();
    if (known) return known;
    const world = new SceneSimulation(stage.scene, stage.model);
    const scene = new PlayedScene(this.suite, world, stage.eye, goalMask(world, this.suite, task));
    this.#scenes.push(scene);
    return scene;
  }

  done(task: number, scene: PlayedScene): void {
    this.#stage(task).idle.push(scene);
  }

  [Symbol.dispose](): void {
    for (const { world } of this.#scenes) world.dispose();
    for (const { eye, model } of this.#stages.values()) {
      eye.dispose();
      model.dispose();
    }
  }

  #stage(task: number): Stage {
    const known = this.#stages.get(task);
    if (known) return known;
    const { pack, tasks, name } = this.suite;
    const entry = tasks[task];
    if (!entry) throw new UserError(`${name} has tasks 0 to ${tasks.length - 1}, not ${task}`);
    const scene = assembleScene(pack, readBddl(pack.resolve(entry.bddl)));
    const model = SceneSimulation.compile(scene);
    const [width, height] = [this.#size, this.#size];
    const stage = { scene, model, eye: new PackCamera(model, pack.sights, { width, height }), idle: [] };
    this.#stages.set(task, stage);
    return stage;
  }
}

/** One episode under way. */
export class PlayedScene {
  readonly world: SceneSimulation;
  readonly #suite: Suite;
  readonly #eye: PackCamera;
  readonly #goals: GoalMask;
  #picture: Uint8Array = new Uint8Array(0);
  #success = false;

  constructor(suite: Suite, world: SceneSimulation, eye: PackCamera, goals: GoalMask) {
    this.#suite = suite;
    this.world = world;
    this.#eye = eye;
    this.#goals = goals;
  }

  /** `random`: the job's own stream, at its beginning; a fresh start is drawn from it. */
  begin(job: EpisodeJob, random: Mt19937): void {
    beginJob(this.world, this.#suite, job, random, this.#look);
    this.#success = this.world.success;
  }

  /** One control step, with a picture of its end. */
  step(action: ArrayLike<number>): void {
    this.#success = this.world.step(action, this.#look);
  }

  /** What is seen and true now. */
  frame(): FrameRow {
    const goals = this.#goals();
    return {
      main: this.#picture,
      state: robotState(this.world.drive.readings),
      success: this.#success,
      goals,
    };
  }

  readonly #look = (): void => {
    this.#picture = this.#eye.main(this.world.simulation);
  };
}
