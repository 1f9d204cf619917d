/**
 * A run: its workers, its folder, its clock, and where it stands.
 *
 * Everything around the loop in train.ts: opening (or going on from a checkpoint), evaluating, telling, keeping, closing.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type CheckedConfig, plain, planBatch, toYaml } from "#config";
import { type Metrics, type MetricsWriter, openRunLog, Timers } from "#metrics";
import { UserError } from "#registry";
import {
  type CheckpointState,
  fillCheckpoint,
  modelFrom,
  readState,
  restoreCrew,
} from "./checkpoint/content.ts";
import { keepNewest, markBest, newestWhole, writeCheckpoint } from "./checkpoint/folder.ts";
import { findDamage } from "./checkpoint/manifest.ts";
import { CoEvolution } from "./co-evolution/co-evolution.ts";
import { comparesDreams, GapWatch, gapMetrics } from "./co-evolution/gap-watch.ts";
import { truthWarning } from "./co-evolution/truth-warning.ts";
import { Crew } from "./crew.ts";
import { type EvaluationResult, Evaluator } from "./evaluation/evaluate.ts";
import { layOver, readWeights } from "./lay-over.ts";
import type { Reporter } from "./reporter.ts";

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
  /** Training steps done. */
  step: number;
  #saved: number | undefined;
  #stopping = false;
  #complete = false;
  #lastTold = performance.now();

  private constructor(parts: {
    checked: CheckedConfig;
    crew: Crew;
    log: MetricsWriter;
    reporter: Reporter;
    evolution: CoEvolution | undefined;
    from: CheckpointState | undefined;
  }) {
    const { step = 0, gap } = parts.from ?? {};
    this.checked = parts.checked;
    this.crew = parts.crew;
    this.#log = parts.log;
    this.reporter = parts.reporter;
    this.step = step;
    this.#saved = step > 0 ? step : undefined;
    this.#evolution = parts.evolution;
    this.#gap = new GapWatch(parts.checked.config.runner.stop_when_gap_grows, gap);
    this.totalSteps = planBatch(parts.checked.config, parts.checked.worlds).trainingSteps;
    this.#evaluator = new Evaluator(parts.checked, parts.crew.rollouts, parts.reporter.say);
  }

  static async open(given: CheckedConfig, reporter: Reporter): Promise<Run> {
    const from = startingPoint(given, reporter);
    const evolution = CoEvolution.open(given, reporter.say, {
      step: from?.state.step ?? 0,
      version: from?.state.world ?? 0,
    });
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
    const step = from?.state.step ?? 0;
    writeSettings(checked);
    const log = await openRunLog(config.runner.logger, {
      config: plain(checked.tree),
      step,
      warn: reporter.say,
      also: [{ write: (at, metrics) => reporter.told(at, metrics), close: async () => {} }],
    });
    return new Run({ checked, crew, log, reporter, evolution, from: from?.state });
  }

  /** Whether no further step is to be taken, because someone asked or because the run has reached its end early. */
  get over(): boolean {
    return this.#stopping || this.#complete;
  }

  get stopping(): boolean {
    return this.#stopping;
  }

  /** Ends the run after the step that is under way, with a checkpoint. */
  stop(): void {
    this.#stopping = true;
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
    const result = await this.phase("eval", async (onProgress) => {
      await this.crew.syncWeights(step, true);
      return this.#evaluator.evaluate({ extent: "budget", onProgress });
    });
    if (!comparesDreams(this.checked.config)) return result.metrics;
    const metrics = { ...result.metrics, ...gapMetrics(collected, result.metrics) };
    const reason = this.#gap.enter(step, metrics);
    if (reason !== undefined) {
      this.reporter.say(reason);
      this.#complete = true;
    }
    return metrics;
  }

  /** A round of co-evolution after the given step, where one is due. */
  async evolveAfter(step: number): Promise<Metrics> {
    const what = this.#evolution?.due(step, step === this.totalSteps || this.#complete);
    if (!this.#evolution || !what) return {};
    const evolution = this.#evolution;
    return this.phase("co_evolution", (onProgress) => evolution.round(step, what, this.crew, onProgress));
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
    this.#log.write(step, { ...metrics, ...this.timers.take() });
    this.step = step + 1;
  }

  /** A checkpoint, where one is due: every so many steps, at the end, when the run is stopped, and when it is the best so far. */
  async keepIfDue(): Promise<void> {
    const { save_interval: interval } = this.checked.config.runner;
    const last = this.step === this.totalSteps || this.over;
    const best = this.#gap.isBest(this.step);
    if (interval <= 0 && !this.over && !best) return;
    if (last || best || this.step % interval === 0) await this.keep();
  }

  async keep(): Promise<void> {
    if (this.#saved === this.step) return;
    const root = checkpointRoot(this.checked);
    await this.phase("save_checkpoint", async () => {
      const world = {
        ...(this.#evolution && { world: this.#evolution.version }),
        ...(comparesDreams(this.checked.config) && { gap: this.#gap.state }),
      };
      const fill = (folder: string) => fillCheckpoint(folder, this.crew, this.step, world);
      const saved = await writeCheckpoint(root, this.step, fill);
      if (this.#gap.isBest(this.step)) markBest(root, saved);
      keepNewest(root, this.checked.config.runner.keep_checkpoints);
    });
    this.#saved = this.step;
  }

  async close(): Promise<void> {
    await this.#log.close();
    await this.#evaluator.close();
    await this.crew.close();
  }
}

export function checkpointRoot({ config }: CheckedConfig): string {
  const { log_path, experiment_name } = config.runner.logger;
  return join(log_path, experiment_name, "checkpoints");
}

/** The checkpoint that `runner.resume_dir` names, checked whole; with "auto", the newest whole one of this run's folder. */
function startingPoint(
  checked: CheckedConfig,
  { say }: Reporter,
): { folder: string; state: CheckpointState } | undefined {
  const { resume_dir: wanted } = checked.config.runner;
  if (wanted === undefined || wanted === null) return undefined;
  const folder = wanted === "auto" ? newestWhole(checkpointRoot(checked), say)?.folder : wanted;
  if (folder === undefined) {
    say("no checkpoint to resume from yet: the run begins at step 0");
    return undefined;
  }
  const faults = wanted === "auto" ? [] : findDamage(folder);
  if (faults.length > 0)
    throw new UserError(
      `${folder} cannot be resumed from:\n${faults.map((fault) => `  ${fault}`).join("\n")}`,
    );
  const state = readState(folder);
  say(`resuming from ${folder}: ${state.step} steps done`);
  return { folder, state };
}

async function layOverActors({ actors }: Crew, path: string): Promise<void> {
  const weights = readWeights(path);
  layOver(actors.first.policy, path, weights);
  actors.first.optimizer.rereadWeights();
  await Promise.all(actors.others.map((actor) => actor.call("loadWeights", weights)));
}

/** The resolved configuration, beside what it made. */
function writeSettings(checked: CheckedConfig): void {
  const { log_path: folder } = checked.config.runner.logger;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "config.yaml"), toYaml(checked.tree));
}
