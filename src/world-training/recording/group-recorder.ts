/** What recorders of a policy share: episodes are played in groups, so that the policy answers them together, and become one shard. */
import {
  type EpisodeJob,
  type EpisodeOutcome,
  type RecordingSettings,
  ScenePlayer,
  type ShardJob,
  type ShardMaker,
  ShardRecorder,
  type ShardSummary,
} from "#recordings";

export abstract class GroupRecorder implements ShardMaker, Disposable {
  protected readonly settings: RecordingSettings;
  protected readonly player: ScenePlayer;
  readonly #atOnce: number;

  /** `atOnce`: episodes of a group. */
  constructor(settings: RecordingSettings, atOnce: number) {
    this.settings = settings;
    this.#atOnce = atOnce;
    this.player = new ScenePlayer(settings.suite, settings.size);
  }

  /** Plays these episodes to their ends and records them in this order. */
  protected abstract record(jobs: readonly EpisodeJob[], recorder: ShardRecorder): EpisodeOutcome[];

  async collect(
    { jobs, path }: ShardJob,
    onEpisode: (outcome: EpisodeOutcome) => void,
  ): Promise<ShardSummary> {
    const { size } = this.settings;
    const recorder = new ShardRecorder({ width: size, height: size, wrist: false });
    for (let from = 0; from < jobs.length; from += this.#atOnce) {
      const group = jobs.slice(from, from + this.#atOnce);
      for (const outcome of this.record(group, recorder)) onEpisode(outcome);
      await new Promise(setImmediate); // messages go out
    }
    recorder.write(path);
    return { episodes: recorder.episodes, frames: recorder.frames, attempts: jobs.length };
  }

  [Symbol.dispose](): void {
    this.player[Symbol.dispose]();
  }
}
