/**
 * Records scripted episodes for a world model: some clean, most with mistakes.
 *
 * A world that has seen only success imagines success. Near misses (a grasp or a drop beside its place, turned gripper
 * commands, strong noise) and wrong objects show what failing looks like; the mixture is that of a trial that worked.
 */

import { handsOf } from "#engine";
import { Mt19937 } from "#random";
import {
  ActionNoise,
  drawMistakes,
  type MistakeOptions,
  makeExpert,
  type NoiseOptions,
  type SceneExpert,
} from "#simulators";
import type { EpisodeJob, ShardJob } from "../demonstrations/begin-job.ts";
import type { EpisodeOutcome, ShardMaker, ShardSummary } from "../demonstrations/collect-shard.ts";
import { ShardRecorder } from "../demonstrations/recorder.ts";
import { EpisodeEnd } from "./episode-end.ts";
import type { RecordingSettings } from "./recording-settings.ts";
import { type PlayedScene, ScenePlayer } from "./scene-player.ts";

const persistence = 0.7; // of noise, from step to step

interface Temper {
  readonly mistakes: MistakeOptions;
  readonly noise: NoiseOptions;
}

export class ScriptedRecorder implements ShardMaker, Disposable {
  readonly #settings: RecordingSettings;
  readonly #player: ScenePlayer;
  readonly #experts = new Map<PlayedScene, SceneExpert>();

  constructor(settings: RecordingSettings) {
    this.#settings = settings;
    this.#player = new ScenePlayer(settings.suite, settings.size);
  }

  async collect(
    { jobs, path }: ShardJob,
    onEpisode: (outcome: EpisodeOutcome) => void,
  ): Promise<ShardSummary> {
    const { size } = this.#settings;
    const recorder = new ShardRecorder({
      width: size,
      height: size,
      wrist: false,
      hands: handsOf(this.#player.suite.pack),
    });
    for (const job of jobs) onEpisode(this.#episode(job, recorder));
    recorder.write(path);
    return { episodes: recorder.episodes, frames: recorder.frames, attempts: jobs.length };
  }

  [Symbol.dispose](): void {
    this.#player[Symbol.dispose]();
  }

  #episode(job: EpisodeJob, recorder: ShardRecorder): EpisodeOutcome {
    const scene = this.#player.open(job.task);
    const random = new Mt19937(job.seed);
    scene.begin(job, random);
    const { mistakes, noise } = this.#temper(random);
    const expert = this.#expert(scene);
    expert.reset(drawMistakes(mistakes, random));
    const hand = new ActionNoise(noise, random);
    const end = new EpisodeEnd(this.#settings);
    recorder.addFrame(scene.frame());
    while (!end.reached) {
      const wanted = expert.act();
      const executed = hand.disturb(wanted);
      recorder.addAction(executed, wanted);
      scene.step(executed);
      const frame = scene.frame();
      recorder.addFrame(frame);
      end.count(frame);
    }
    recorder.endEpisode({ ...job, succeeded: end.succeeded });
    this.#player.done(job.task, scene);
    return { job, success: end.succeeded, steps: end.steps };
  }

  /** What kind of episode this is. */
  #temper(random: Mt19937): Temper {
    const { clean_share, wrong_share, clean_noise, near_miss_noise, ...errors } = this.#settings;
    const [kind, strength] = [random.double(), random.double()];
    const noise = (size: number, gripperFlips: number): NoiseOptions => ({ size, persistence, gripperFlips });
    if (kind < clean_share)
      return { mistakes: { grasp: 0, place: 0, wrongObject: 0 }, noise: noise(clean_noise, 0) };
    if (kind < clean_share + wrong_share)
      return {
        mistakes: { grasp: 0, place: 0, wrongObject: 1 },
        noise: noise(2 * clean_noise * strength, 0),
      };
    const { grasp_error: grasp, place_error: place, gripper_flips } = errors;
    return {
      mistakes: { grasp, place, wrongObject: 0 },
      noise: noise(near_miss_noise * strength, gripper_flips),
    };
  }

  #expert(scene: PlayedScene): SceneExpert {
    const known = this.#experts.get(scene);
    if (known) return known;
    const expert = makeExpert(scene.world);
    this.#experts.set(scene, expert);
    return expert;
  }
}
