/**
 * The main job: how good is the policy, train it, how good is it now?
 *
 * Each part is an ordinary run of the engine (`reverie eval`, `train`, `eval`), and leaves its result on disk before the next begins.
 * So an interrupted job goes on with the first part whose result is missing.
 */
import { existsSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { type CheckedConfig, planBatch } from "#config";
import { counted, readMetricsFile } from "#metrics";
import { UserError } from "#registry";
import {
  checkpointRoot,
  type EngineHandle,
  type EngineWatcher,
  type EvaluationFile,
  newestCheckpoint,
  percent,
  readEvaluation,
  readRun,
  startsName,
} from "#training";
import { type Job, type JobState, keepJob } from "./arguments.ts";
import { type Evaluated, freshEpisodes, freshOverrides, secondsOf } from "./both-evaluations.ts";
import { planEvaluations } from "./evaluation-plan.ts";
import { filmPairs } from "./film-pairs.ts";
import { describeImprovement, type ImprovementFile, writeImprovement } from "./improvement.ts";
import { reportSeconds } from "./job-clock.ts";
import type { JobScreen } from "./job-screen.ts";
import { drawLearningCurve } from "./learning-curve.ts";
import type { Stopping } from "./stopping.ts";

export interface JobResult {
  readonly file: ImprovementFile;
  readonly folder: string;
  readonly checkpoint: string;
  /** What was changed in the configuration. */
  readonly overrides: readonly string[];
}

/** A step's episodes all run to their end, and what they taught is learned: about twice the time of an evaluation's. */
const learningShare = 2;

const runOverrides = (folder: string, { overrides }: JobState): string[] => [
  `runner.logger.log_path=${folder}`,
  ...overrides,
];

/** The job's configuration, checked: its mistakes are told before anything is made or started. */
export function readJob(
  { folder, state }: Pick<Job, "folder" | "state">,
  changes: readonly string[] = [],
): Promise<CheckedConfig> {
  return readRun(state.config, {
    overrides: [...runOverrides(folder, state), ...changes],
    requireFiles: true,
    ...(state.config_path !== null && { configPath: state.config_path }),
  });
}

export class MainJob {
  readonly #folder: string;
  readonly #screen: JobScreen;
  readonly #stopping: Stopping;
  #state: JobState;
  #planned = false;
  #episodesPerStep = 0;

  constructor({ folder, state }: Job, screen: JobScreen, stopping: Stopping) {
    this.#folder = folder;
    this.#state = state;
    this.#screen = screen;
    this.#stopping = stopping;
  }

  async run(): Promise<JobResult> {
    this.#keep({});
    const { config, ranks } = await this.#read([]);
    this.#episodesPerStep = planBatch(config, ranks).columns;
    const before = await this.#evaluateBoth("before", []);
    const { success, seconds } = before.stored;
    this.#screen.measured({ success, seconds: seconds + (before.fresh?.seconds ?? 0) });
    if (!this.#state.trained) await this.#train();
    const checked = await this.#read([]);
    const checkpoint = newestCheckpoint(checked, this.#screen.say);
    if (checkpoint === undefined)
      throw new UserError(
        `there is no whole checkpoint in ${checkpointRoot(checked)}; begin anew without --resume`,
      );
    const trained = modelOverrides(join(checkpoint, "actor", "model"));
    const after = await this.#evaluateBoth("after", trained);
    return this.#report(checked, { before, after, checkpoint, trained });
  }

  /** Notes where the job stands, and the time it has taken. */
  keepTime(): void {
    this.#keep({ seconds: this.#screen.clock.elapsed() });
  }

  /** On the stored starts, which training draws from, and on some fresh ones, which it never sees: one part of the job. */
  async #evaluateBoth(part: "before" | "after", changes: readonly string[]): Promise<Evaluated> {
    const more = freshEpisodes(await this.#read(changes));
    const places = { stored: part, fresh: `${part}-fresh` };
    const played = (folder: string): boolean => existsSync(join(this.#folder, folder, "results.json"));
    if (!played(places.stored) || (more > 0 && !played(places.fresh))) this.#screen.begin(part);
    const stored = await this.#evaluate(places.stored, changes, { before: 0, after: more });
    if (more === 0) return { stored };
    const counted = { before: stored.episodes, after: 0 };
    return { stored, fresh: await this.#evaluate(places.fresh, [...changes, ...freshOverrides], counted) };
  }

  /** `others`: episodes of the part's other evaluation, so that its progress is told as one. */
  async #evaluate(
    name: string,
    changes: readonly string[],
    others: { readonly before: number; readonly after: number },
  ): Promise<EvaluationFile> {
    const resultFile = join(this.#folder, name, "results.json");
    if (!existsSync(resultFile)) {
      const overrides = [
        `runner.logger.log_path=${join(this.#folder, name)}`,
        "runner.only_eval=True",
        ...this.#state.overrides,
        ...changes,
      ];
      let engine: EngineHandle | undefined;
      const watcher: EngineWatcher = {
        ...this.#screen,
        doing: (phase, done, total) => {
          if (done === undefined || total === undefined) return this.#screen.doing(phase);
          const after = Math.ceil(others.after * this.#state.share_of_starts);
          this.#screen.doing(phase, others.before + done, others.before + total + after);
          if (name === "before") this.#planEvaluations({ stored: total, fresh: others.after }, engine);
        },
      };
      const share = this.#state.share_of_starts;
      await this.#stopping.run(
        { work: "evaluate", ...this.#config(), overrides, resultFile, share },
        watcher,
        (started) => {
          engine = started;
        },
      );
    }
    const file = readEvaluation(resultFile);
    const { success, episodes } = file;
    this.#screen.say(
      `  ${startsName(file.protocol.starts)}: success ${percent(success)} of ${counted(episodes, "episode")}`,
    );
    return file;
  }

  /** Once, when the first evaluation has shown how fast this machine is: may all be shorter, so that there is time to learn? */
  #planEvaluations(episodes: { stored: number; fresh: number }, engine: EngineHandle | undefined): void {
    const { clock } = this.#screen;
    const speed = this.#planned ? undefined : clock.evaluationSpeed();
    if (!speed) return;
    this.#planned = true;
    const { stored, fresh } = episodes;
    const { share, notes } = planEvaluations({
      limit: clock.limit,
      opening: speed.opening * (fresh > 0 ? 2 : 1),
      playing: speed.playing,
      step: learningShare * speed.playing * (this.#episodesPerStep / (stored + fresh)),
      report: reportSeconds,
    });
    for (const note of notes) this.#screen.say(note);
    if (share === 1) return;
    this.#keep({ share_of_starts: share });
    engine?.shorten(share);
  }

  async #train(): Promise<void> {
    let engine: EngineHandle | undefined;
    let [steps, planned, outOfTime] = [0, 0, false];
    const { clock } = this.#screen;
    this.#screen.begin("training");
    const overrides = [...runOverrides(this.#folder, this.#state), "runner.resume_dir=auto"];
    await this.#stopping.run(
      { work: "train", ...this.#config(), overrides },
      {
        ...this.#screen,
        say: (line) => line.startsWith("no checkpoint to resume from") || this.#screen.say(line),
        opened: (step, totalSteps) => {
          [steps, planned] = [step, totalSteps];
          this.#screen.opened?.(step, totalSteps);
        },
        doing: (phase, done, total) => {
          this.#screen.doing(phase, done, total);
          const mostlyPlayed = phase === "generate_rollouts" && (done ?? 0) > 0.5 * (total ?? 0);
          if (outOfTime || !mostlyPlayed || !clock.mustStop || steps + 1 === planned) return;
          outOfTime = true;
          engine?.finish();
        },
        told: (step, metrics) => {
          steps = step + 1;
          this.#screen.told(step, metrics);
        },
      },
      (started) => {
        engine = started;
      },
    );
    const endedBy = steps < planned ? "time" : "steps";
    this.#keep({ trained: { steps, planned_steps: planned, ended_by: endedBy } });
  }

  async #report(checked: CheckedConfig, parts: ReportParts): Promise<JobResult> {
    this.#screen.begin("report");
    const { before, after, checkpoint } = parts;
    const fresh = before.fresh && after.fresh && { before: before.fresh, after: after.fresh };
    const curve = join(this.#folder, "learning-curve.png");
    const video = join(this.#folder, "before-after.mp4");
    await this.#film(video, parts);
    const steps = readMetricsFile(join(this.#folder, "metrics.jsonl")).map(({ metrics }) => ({
      success: metrics["env/success_once"] ?? Number.NaN,
      episodes: metrics["env/num_trajectories"] ?? 0,
      seconds: metrics["time/step"] ?? 0,
    }));
    const seconds = this.#screen.clock.elapsed();
    const local = (path: string): string => relative(this.#folder, path);
    const file = describeImprovement({ before: before.stored, after: after.stored }, fresh, {
      control: this.#state.control,
      training: {
        ...this.#state.trained!,
        episodes: steps.reduce((sum, { episodes }) => sum + episodes, 0),
      },
      seconds,
      phases: {
        before: secondsOf(before),
        training: steps.reduce((sum, step) => sum + step.seconds, 0),
        after: secondsOf(after),
      },
      files: {
        checkpoint: local(checkpoint),
        before: "before/results.json",
        after: "after/results.json",
        ...(fresh && { before_fresh: "before-fresh/results.json", after_fresh: "after-fresh/results.json" }),
        learning_curve: local(curve),
        ...(existsSync(video) && { video: local(video) }),
      },
    });
    const title = `${titleOf(checked)}${file.control ? ", advantages shuffled" : ""}`;
    const drawn = await drawLearningCurve({ ...file, title, steps });
    writeFileSync(curve, drawn.png);
    writeFileSync(curve.replace(/png$/, "svg"), drawn.svg);
    writeImprovement(join(this.#folder, "results.json"), file);
    this.#keep({ seconds });
    return { file, folder: this.#folder, checkpoint, overrides: this.#state.overrides };
  }

  /** A job without a film is still a job: a missing encoder or camera is told and passed over. */
  async #film(path: string, { trained }: ReportParts): Promise<void> {
    try {
      await filmPairs(path, await this.#read([]), await this.#read(trained));
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      this.#screen.say(`no film: ${error.message}`);
    }
  }

  #read(changes: readonly string[]): Promise<CheckedConfig> {
    return readJob({ folder: this.#folder, state: this.#state }, changes);
  }

  #config(): { readonly config: string; readonly configPath: string | undefined } {
    return { config: this.#state.config, configPath: this.#state.config_path ?? undefined };
  }

  #keep(changes: Partial<JobState>): void {
    this.#state = { ...this.#state, ...changes };
    keepJob({ folder: this.#folder }, this.#state);
  }
}

interface ReportParts {
  readonly before: Evaluated;
  readonly after: Evaluated;
  readonly checkpoint: string;
  readonly trained: readonly string[];
}

const modelOverrides = (folder: string): string[] => [
  `actor.model.model_path=${folder}`,
  `rollout.model.model_path=${folder}`,
];

function titleOf({ config }: CheckedConfig): string {
  const suite = String((config.env.eval ?? config.env.train).task_suite_name);
  return `${suite}, ${String(config.algorithm.adv_type).toUpperCase()}, seed ${config.runner.seed}`;
}
