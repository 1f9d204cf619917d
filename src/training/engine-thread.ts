/**
 * The worker in which a run lives, in a thread of its own, so that the main thread stays free for the screen and signals.
 *
 * It reads the configuration itself (what was checked holds functions, which do not travel), runs, and tells how it goes.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { remarkLines } from "#config";
import { asUserError } from "#registry";
import type { EngineEnd, EngineEvent, EngineRequest } from "./engine.ts";
import { evaluateOnly } from "./evaluate-only.ts";
import { describeEvaluation, writeEvaluation } from "./evaluation/results.ts";
import { readRun } from "./read-run.ts";
import type { Reporter } from "./reporter.ts";
import { Run, writeSettings } from "./run.ts";
import { train } from "./train.ts";

type Tell = (event: EngineEvent) => void;

export const openEngine = (request: EngineRequest): Engine => new Engine(request);

export class Engine {
  readonly #request: EngineRequest;
  readonly #part: { share: number };
  #running: Run | undefined;
  #stopAsked = false;

  constructor(request: EngineRequest) {
    this.#request = request;
    this.#part = { share: request.work === "evaluate" ? (request.share ?? 1) : 1 };
  }

  async run(_: undefined, tell: Tell): Promise<EngineEnd> {
    try {
      await this.#work(tell);
    } catch (error) {
      throw asUserError(error) ?? error;
    }
    return { stopped: this.#running?.stopping ?? false };
  }

  /** Ends the run, with a checkpoint of the steps that are done. */
  stop(): void {
    this.#stopAsked = true;
    this.#running?.stop();
  }

  /** Ends the run with the step under way. */
  finish(): void {
    this.#running?.finish();
  }

  shorten(share: number): void {
    this.#part.share = Math.min(this.#part.share, share);
  }

  async #work(tell: Tell): Promise<void> {
    const request = this.#request;
    const reporter = reporterOf(tell);
    reporter.doing("read_config");
    const checked = await readRun(request.config, {
      overrides: request.overrides,
      requireFiles: true,
      ...(request.configPath !== undefined && { configPath: request.configPath }),
    });
    for (const severity of ["warning", "note"] as const)
      for (const line of remarkLines(checked.problems, severity)) reporter.say(`${severity}: ${line}`);
    if (request.work === "evaluate") {
      const trained = existsSync(join(checked.config.runner.logger.log_path, "metrics.jsonl"));
      writeSettings(checked, trained ? "eval-config.yaml" : "config.yaml"); // a run's own configuration stays
      const file = describeEvaluation(checked, await evaluateOnly(checked, reporter, this.#part));
      writeEvaluation(request.resultFile, file);
      return;
    }
    this.#running = await Run.open(checked, reporter);
    tell({ kind: "opened", step: this.#running.step, totalSteps: this.#running.totalSteps });
    if (this.#stopAsked) this.#running.stop();
    try {
      await train(this.#running);
    } finally {
      await this.#running.close();
    }
  }
}

const reporterOf = (tell: Tell): Reporter => ({
  doing: (phase, done, total) => tell({ kind: "doing", phase, done, total }),
  say: (line) => tell({ kind: "say", line }),
  told: (step, metrics) => tell({ kind: "told", step, metrics: { ...metrics } }),
});
