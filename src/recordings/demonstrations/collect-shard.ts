/**
 * Runs an expert through a list of episodes and writes them as one shard.
 *
 * An episode depends on its job and the settings alone, never on what ran before it or in which process: any number of
 * workers makes the same files.
 */

import { assembleScene, handsOf, PackCamera, readBddl, robotState, SceneSimulation } from "#engine";
import { Mt19937 } from "#random";
import type { WorkerProgram } from "#registry";
import {
  ActionNoise,
  drawMistakes,
  findSuite,
  makeExpert,
  runEpisode,
  type SceneExpert,
  type Suite,
} from "#simulators";
import { beginJob, type EpisodeJob, type ShardJob } from "./begin-job.ts";
import type { CollectSettings } from "./collect-settings.ts";
import { type GoalMask, goalMask } from "./goal-mask.ts";
import { ShardRecorder } from "./recorder.ts";

export interface EpisodeOutcome {
  readonly job: EpisodeJob;
  readonly success: boolean;
  readonly steps: number;
}

export interface ShardSummary {
  readonly episodes: number;
  readonly frames: number;
  readonly attempts: number;
}

/** What makes shards, here or elsewhere. */
export interface ShardMaker {
  collect(
    shard: ShardJob,
    onEpisode: (outcome: EpisodeOutcome) => void,
  ): ShardSummary | Promise<ShardSummary>;
}

export const shardCollectorProgram: WorkerProgram = {
  module: import.meta.url,
  factory: "openShardCollector",
};
export const openShardCollector = (settings: CollectSettings): ShardCollector => new ShardCollector(settings);

/** One task's world with its expert and its camera, made once per process. */
interface Stage {
  readonly world: SceneSimulation;
  readonly expert: SceneExpert;
  readonly camera: PackCamera;
  readonly goals: GoalMask;
}

export class ShardCollector implements ShardMaker, Disposable {
  readonly #suite: Suite;
  readonly #settings: CollectSettings;
  readonly #stages = new Map<number, Stage>();

  constructor(settings: CollectSettings) {
    this.#suite = findSuite(settings.suite);
    this.#settings = settings;
  }

  collect({ jobs, path }: ShardJob, onEpisode: (outcome: EpisodeOutcome) => void): ShardSummary {
    const { size, wrist } = this.#settings;
    const recorder = new ShardRecorder({
      width: size,
      height: size,
      wrist,
      hands: handsOf(this.#suite.pack),
    });
    for (const job of jobs) onEpisode(this.#runEpisode(job, recorder));
    recorder.write(path);
    return { episodes: recorder.episodes, frames: recorder.frames, attempts: jobs.length };
  }

  [Symbol.dispose](): void {
    for (const { world, camera } of this.#stages.values()) {
      camera.dispose();
      world.dispose();
    }
  }

  #runEpisode(job: EpisodeJob, recorder: ShardRecorder): EpisodeOutcome {
    const stage = this.#stage(job.task);
    const { world, expert } = stage;
    const settings = this.#settings;
    const random = new Mt19937(job.seed);
    const eye = this.#eye(stage, recorder);
    beginJob(world, this.#suite, job, random, eye.look);
    expert.reset(
      drawMistakes(
        { grasp: settings.grasp_error, place: settings.place_error, wrongObject: settings.wrong_object },
        random,
      ),
    );
    const noise = new ActionNoise(
      { size: settings.noise, persistence: settings.noise_persistence, gripperFlips: settings.gripper_flips },
      random,
    );
    eye.keep(world.success);
    const { success, steps } = runEpisode(world, expert, {
      maxSteps: settings.max_steps,
      stepsAfterSuccess: settings.steps_after_success,
      disturb: (action) => noise.disturb(action),
      onStep: (executed, label) => recorder.addAction(executed, label),
      onObservation: eye.look,
      afterStep: eye.keep,
    });
    if (success || settings.keep_failures) recorder.endEpisode({ ...job, succeeded: success });
    else recorder.dropEpisode();
    return { job, success, steps };
  }

  /** Sees at the moment of an observation; keeps what was seen last as a frame. */
  #eye({ world, camera, goals }: Stage, recorder: ShardRecorder) {
    const { wrist: withWrist } = this.#settings;
    let main: Uint8Array = new Uint8Array(0);
    let wrist: Uint8Array | undefined;
    return {
      look: () => {
        main = camera.main(world.simulation);
        if (withWrist) wrist = camera.wrists(world.simulation);
      },
      keep: (success: boolean) =>
        recorder.addFrame({ main, wrist, state: robotState(world.drive.readings), success, goals: goals() }),
    };
  }

  #stage(task: number): Stage {
    const known = this.#stages.get(task);
    if (known) return known;
    const { pack, tasks } = this.#suite;
    const scene = assembleScene(pack, readBddl(pack.resolve(tasks[task]!.bddl)));
    const model = SceneSimulation.compile(scene);
    const { size } = this.#settings;
    const world = new SceneSimulation(scene, model);
    const stage = {
      world,
      goals: goalMask(world, this.#suite, task),
      expert: makeExpert(world),
      camera: new PackCamera(model, pack.sights, { width: size, height: size }),
    };
    this.#stages.set(task, stage);
    return stage;
  }
}
