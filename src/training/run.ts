/**
 * A run: its workers, its folder, its clock, and where it stands.
 *
 * Everything around the loop in train.ts: opening (or going on from a checkpoint), evaluating, telling, keeping, closing.
 */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Advantages } from "#algorithms";
import { type CheckedConfig, plain, planBatch, toYaml } from "#config";
import { type Metrics, type MetricsWriter, openRunLog, readMetricsFile, Timers } from "#metrics";
import { type Rgb, tile } from "#pictures";
import type { Learned } from "#workers";
import { Abandoned, abandonable } from "./abandon.ts";
import { modelFrom, restoreCrew } from "./checkpoint/content.ts";
import { closedLoopMetrics, measureClosedLoop } from "./co-evolution/closed-loop.ts";
import { CoEvolution } from "./co-evolution/co-evolution.ts";
import { comparesDreams, GapWatch, gapMetrics } from "./co-evolution/gap-watch.ts";
import { truthWarning } from "./co-evolution/truth-warning.ts";
import { type Collected, Crew } from "./crew.ts";
import { type EvaluationResult, Evaluator } from "./evaluation/evaluate.ts";
import { layOver, readWeights } from "./lay-over.ts";
import type { Reporter } from "./reporter.ts";
import { CheckpointKeeper } from "./run-folder/keeper.ts";
import { RunFolder } from "./run-folder/run-folder.ts";

export class Run {
  readonly checked: CheckedConfig;
  readonly crew: Crew;
  readonly totalSteps: number;
  readonly reporter: Reporter;
  readonly timers = new Timers();
  readonly #log: MetricsWriter;
  readonly #evaluator: Evaluator;
  readonly #evolution: CoEvolution | undefined;
  readonly #gap: GapWatch;
  readonly #folder: RunFolder;
  readonly #keeper: CheckpointKeeper;
  /** Training steps done. */
  step: number;
  /** Steps done by the weights that act, while they do. */
  #acting: number | undefined;
  readonly #stop = new AbortController();
  #complete = false;
  /** The evaluation or round that was due after the last step was given up. */
  #unfinished = false;
  /** The numbers of the last step of an earlier run, which was told to stop before all that was due after it was done. */
  #owed: Metrics | undefined;
  #lastTold = performance.now();

  private constructor(parts: {
    checked: CheckedConfig;
    crew: Crew;
    log: MetricsWriter;
    reporter: Reporter;
    evolution: CoEvolution | undefined;
    folder: RunFolder;
    owed: Metrics | undefined;
  }) {
    const { step = 0, gap } = parts.folder.start.from?.state ?? {};
    this.checked = parts.checked;
    this.crew = parts.crew;
    this.#log = parts.log;
    this.reporter = parts.reporter;
    this.step = step;
    this.#owed = parts.owed;
    this.#folder = parts.folder;
    this.#keeper = new CheckpointKeeper(parts.crew, parts.folder);
    this.#evolution = parts.evolution;
    this.#gap = new GapWatch(parts.checked.config.runner.stop_when_gap_grows, gap);
    this.totalSteps = planBatch(parts.checked.config, parts.checked.ranks).trainingSteps;
    this.#evaluator = new Evaluator(parts.checked, parts.crew.rollouts, parts.reporter.say);
  }

  static async open(given: CheckedConfig, reporter: Reporter): Promise<Run> {
    const folder = RunFolder.open(given, reporter.say);
    try {
      return await Run.#begin(given, reporter, folder);
    } catch (error) {
      folder.close();
      throw error;
    }
  }

  static async #begin(given: CheckedConfig, reporter: Reporter, folder: RunFolder): Promise<Run> {
    const { from } = folder.start;
    const step = from?.state.step ?? 0;
    const evolution = await CoEvolution.open(given, reporter.say, { step, version: from?.state.world ?? 0 });
    const checked = evolution?.checked ?? given;
    const warning = truthWarning(checked.config.env.train);
    if (warning !== undefined) reporter.say(warning);
    const { config } = checked;
    const modelChanges = from && modelFrom(from.folder, config.actor.model.is_lora);
    const crew = await Crew.assemble(checked, {
      say: reporter.say,
      doing: (phase) => reporter.doing(phase),
      modelChanges,
    });
    if (from) await restoreCrew(from.folder, from.state, crew);
    else if (config.runner.ckpt_path) await layOverActors(crew, config.runner.ckpt_path);
    folder.begin();
    evolution?.goOnFrom(step);
    writeSettings(checked);
    const owed = from?.state.unfinished ? metricsOf(checked, step - 1) : undefined;
    const log = await openRunLog(config.runner.logger, {
      config: plain(checked.tree),
      step: owed ? step - 1 : step,
      warn: reporter.say,
      also: [{ write: (at, metrics) => reporter.told(at, metrics), close: async () => {} }],
    });
    return new Run({ checked, crew, log, reporter, evolution, folder, owed });
  }

  /** Whether no further step is to be taken, because someone asked or because the run has reached its end early. */
  get over(): boolean {
    return this.stopping || this.#complete;
  }

  get stopping(): boolean {
    return this.#stop.signal.aborted;
  }

  /**
   * Ends the run soon, with a checkpoint. Episodes, evaluations and rounds of co-evolution under way are given up and done again when the run
   * goes on; updates under way are finished.
   */
  stop(): void {
    this.#stop.abort(new Abandoned());
  }

  /** Ends the run with the step under way, which is finished and saved. */
  finish(): void {
    this.#complete = true;
  }

  /** A training step's episodes; undefined when they were given up. */
  async collect(step: number): Promise<Collected | undefined> {
    const { crew } = this;
    const signal = crew.canAbandon ? this.#stop.signal : undefined;
    this.#acting = step;
    const collected = await this.#unlessStopped(
      this.phase("generate_rollouts", (progress) =>
        abandonable(crew.collect(step, progress, signal), signal),
      ),
    );
    this.#acting = undefined;
    return collected;
  }

  async #unlessStopped<T>(work: Promise<T>): Promise<T | undefined> {
    try {
      return await work;
    } catch (error) {
      if (error instanceof Abandoned) return undefined;
      throw error;
    }
  }

  /** All updates of a step. What has ruined the policy is told with its numbers, and ends the run. */
  async learn(advantages: Advantages, told: Metrics): Promise<Learned> {
    const learned = await this.phase("actor_training", (progress) =>
      this.crew.learn(advantages, this.step, progress),
    );
    try {
      this.#keeper.requireSane(this.step, learned);
    } catch (error) {
      this.tell(this.step, { ...told, ...learned.metrics });
      throw error;
    }
    return learned;
  }

  /** The error as a user needs it: with the checkpoint that is still good. */
  explain(error: unknown): unknown {
    return this.#keeper.explain(error, this.#acting);
  }

  /** Runs one phase of a step, timed and announced under its name. */
  phase<T>(name: string, work: (progress: (done: number, total: number) => void) => Promise<T>): Promise<T> {
    this.reporter.doing(name);
    return this.timers.run(name, () => work((done, total) => this.reporter.doing(name, done, total)));
  }

  /** An evaluation after the given step, where one is due; in a world model, also how far its dreams are from it. */
  async evaluateAfter(step: number, collected: Metrics): Promise<Metrics> {
    const interval = this.checked.config.runner.val_check_interval;
    if (interval <= 0 || (step % interval !== 0 && step !== this.totalSteps)) return {};
    const { signal } = this.#stop;
    const playing = this.phase("eval", async (onProgress) => {
      signal.throwIfAborted();
      await this.crew.syncWeights(step, true);
      return abandonable(this.#evaluator.evaluate({ extent: "budget", onProgress, signal }), signal);
    });
    const result = await this.#unlessStopped(playing);
    if (!result) return this.#owe();
    if (!comparesDreams(this.checked)) return result.metrics;
    const metrics = {
      ...result.metrics,
      ...gapMetrics(collected, result.metrics),
      ...(await this.#closedLoop()),
    };
    const reason = this.#gap.enter(step, metrics);
    if (reason !== undefined) {
      this.reporter.say(reason);
      this.#complete = true;
    }
    return metrics;
  }

  /** How often the world takes a real failure of this policy for a success, where the run is to end when that grows. */
  async #closedLoop(): Promise<Metrics> {
    const { enabled, episodes } = this.checked.config.runner.stop_when_gap_grows;
    if (!enabled) return {};
    const found = await this.phase("closed_loop", (onProgress) =>
      measureClosedLoop(this.crew, episodes, onProgress),
    );
    return found ? closedLoopMetrics(found) : {};
  }

  /** A round of co-evolution after the given step, where one is due. */
  async evolveAfter(step: number): Promise<Metrics> {
    const what = this.#evolution?.due(step, step === this.totalSteps || this.#complete);
    if (!this.#evolution || !what) return {};
    const evolution = this.#evolution;
    const { signal } = this.#stop;
    if (signal.aborted) return this.#owe();
    const round = this.phase("co_evolution", (onProgress) =>
      abandonable(evolution.round(step, what, this.crew, onProgress, signal), signal),
    );
    return (await this.#unlessStopped(round)) ?? this.#owe();
  }

  #owe(): Metrics {
    this.#unfinished = true;
    this.reporter.say("what was due after this step was given up; it is done first when the run goes on");
    return {};
  }

  /** Does what an earlier run was told to stop in the middle of, after its last step, and tells that step's numbers with it. */
  async settle(): Promise<void> {
    const owed = this.#owed;
    if (!owed) return;
    this.#owed = undefined;
    const isEvaluated = Object.keys(owed).some((name) => name.startsWith("eval/"));
    const evaluated = isEvaluated ? {} : await this.evaluateAfter(this.step, owed);
    const evolved = await this.evolveAfter(this.step);
    this.#log.write(this.step - 1, { ...owed, ...evaluated, ...evolved, ...this.timers.take() });
    this.#lastTold = performance.now();
  }

  /** A whole evaluation of the weights as they are. */
  async evaluate(): Promise<EvaluationResult> {
    await this.crew.syncWeights(this.step, true);
    return this.phase("eval", (onProgress) => this.#evaluator.evaluate({ extent: "all", onProgress }));
  }

  /** The step's numbers to everybody. Its time runs from the last telling on, so that every second belongs to one step. */
  tell(step: number, metrics: Metrics): void {
    const now = performance.now();
    this.timers.add("step", (now - this.#lastTold) / 1000);
    this.#lastTold = now;
    this.#folder.requireOurs();
    this.#log.write(step, { ...metrics, ...this.timers.take() });
    this.step = step + 1;
  }

  /** What the policy saw at the end of this step's rollouts, to those who show pictures, every tenth step. */
  show(step: number, sights: readonly Rgb[]): void {
    if (step % 10 === 0 && sights.length > 0) this.#log.show?.(step, "env/last_sights", tile(sights));
  }

  /** A checkpoint, where one is due: every so many steps, at the end, when the run is stopped, and when it is the best so far. */
  async keepIfDue(): Promise<void> {
    const { save_interval: interval } = this.checked.config.runner;
    const last = this.step === this.totalSteps || this.over;
    const best = this.#gap.isBest(this.step);
    if (interval <= 0 && !this.over && !best) return;
    if (last || best || this.step % interval === 0) await this.keep();
  }

  /** The steps that are done, when the run was told to stop within one. */
  async keepStopped(): Promise<void> {
    if (this.step > 0) await this.keep();
    else this.reporter.say("stopped before the first step was done: there is nothing to save");
  }

  async keep(): Promise<void> {
    if (this.#keeper.savedStep === this.step) return;
    this.#folder.requireOurs();
    const world = {
      ...(this.#evolution && { world: this.#evolution.version }),
      ...(comparesDreams(this.checked) && { gap: this.#gap.state }),
      ...(this.#unfinished && { unfinished: true as const }),
    };
    await this.phase("save_checkpoint", () =>
      this.#keeper.keep(this.step, world, this.#gap.isBest(this.step)),
    );
  }

  async close(): Promise<void> {
    await this.#log.close();
    await this.#evaluator.close();
    await this.crew.close();
    this.#folder.close();
  }
}

async function layOverActors({ actors }: Crew, path: string): Promise<void> {
  const weights = readWeights(path);
  layOver(actors.first.policy, path, weights);
  actors.first.optimizer.rereadWeights();
  await Promise.all(actors.others.map((actor) => actor.call("loadWeights", weights)));
}

/** What a run told of a step before; nothing where its folder is gone. */
function metricsOf({ config }: CheckedConfig, step: number): Metrics {
  const file = join(config.runner.logger.log_path, "metrics.jsonl");
  const lines = existsSync(file) ? readMetricsFile(file) : [];
  return lines.find((line) => line.step === step)?.metrics ?? {};
}

/** The resolved configuration, beside what it made. */
export function writeSettings(checked: CheckedConfig, name = "config.yaml"): void {
  const { log_path: folder } = checked.config.runner.logger;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), toYaml(checked.tree));
}
