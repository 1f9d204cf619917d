/**
 * Runs for programs: what `reverie train` and `reverie eval` do, without a screen, in this process.
 *
 * A program that must stay responsive starts them in a worker of its own; the commands do (engine.ts).
 */
import { writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { stringify } from "yaml";
import { makeFolder } from "#formats";
import type { Metrics } from "#metrics";
import { loadPlugins } from "#registry";
import { latestOf } from "./checkpoint/folder.ts";
import type { EngineEvent, EngineRequest } from "./engine.ts";
import { Engine } from "./engine-thread.ts";
import { type EvaluationFile, readEvaluation } from "./evaluation/results.ts";
import { readRun } from "./read-run.ts";
import { checkpointRoot } from "./run-folder/places.ts";

/** A configuration: the name of a shipped one, the path of a YAML file, or the content of one. */
export type ConfigSource = string | Readonly<Record<string, unknown>>;

export interface RunOptions {
  /** A folder of its own for the results. */
  readonly out: string;
  /** `key=value`, as on the command line. */
  readonly overrides?: readonly string[];
  /** Files of code, beside those that the configuration names. */
  readonly plugins?: readonly string[];
  /** Searched for configurations before the shipped ones. */
  readonly configPath?: string;
  /** Aborted: training ends soon, with a checkpoint. */
  readonly signal?: AbortSignal;
  /** After every training step, counted from 0: its metrics by name (docs/metrics.md). */
  readonly onStep?: (step: number, metrics: Metrics) => void;
  /** Remarks of the run, each a line. */
  readonly say?: (line: string) => void;
}

export interface TrainedRun {
  /** Where config.yaml, metrics.jsonl and the checkpoints are. */
  readonly folder: string;
  /** Whether `signal` ended it before its last step. */
  readonly stopped: boolean;
  /** Of the last step that this call took; empty where it took none. */
  readonly metrics: Metrics;
  /** The newest checkpoint, to give to `evaluateRun` as `actor.model.model_path`; undefined where none was asked for. */
  readonly checkpoint: string | undefined;
}

/** Trains as a configuration says, from start to end. */
export async function trainRun(config: ConfigSource, options: RunOptions): Promise<TrainedRun> {
  const request = await requestOf(config, options);
  let metrics: Metrics = {};
  const engine = new Engine({ ...request, work: "train" });
  const stop = (): void => engine.stop();
  if (options.signal?.aborted) stop();
  options.signal?.addEventListener("abort", stop, { once: true });
  try {
    const { stopped } = await engine.run(undefined, (event) => {
      if (event.kind === "told") metrics = event.metrics;
      pass(event, options);
    });
    const root = checkpointRoot(
      await readRun(request.config, {
        overrides: request.overrides,
        ...(options.configPath && { configPath: options.configPath }),
      }),
    );
    const latest = latestOf(root);
    return {
      folder: options.out,
      stopped,
      metrics,
      checkpoint: latest === undefined ? undefined : join(root, latest, "actor", "model"),
    };
  } finally {
    options.signal?.removeEventListener("abort", stop);
  }
}

/** Plays every start of the configuration's `env.eval` and counts successes, task by task; also in `results.json`. */
export async function evaluateRun(
  config: ConfigSource,
  options: Omit<RunOptions, "onStep" | "signal">,
): Promise<EvaluationFile> {
  const request = await requestOf(config, options);
  const resultFile = join(options.out, "results.json");
  const overrides = ["runner.only_eval=True", ...request.overrides];
  await new Engine({ ...request, overrides, work: "evaluate", resultFile }).run(undefined, (event) =>
    pass(event, options),
  );
  return readEvaluation(resultFile);
}

async function requestOf(
  config: ConfigSource,
  { out, overrides = [], plugins = [], configPath }: RunOptions,
): Promise<Omit<EngineRequest, "work" | "resultFile" | "share">> {
  await loadPlugins(plugins);
  return {
    config: typeof config === "string" ? config : writeConfig(config, out),
    overrides: [`runner.logger.log_path=${out}`, ...overrides],
    ...(configPath !== undefined && { configPath }),
  };
}

/** Paths of plugins in it are relative to where the program runs. */
function writeConfig(config: Readonly<Record<string, unknown>>, out: string): string {
  const { plugins = [] } = config;
  const content = { ...config, plugins: (plugins as readonly string[]).map((path) => resolve(path)) };
  const path = join(makeFolder(out), `${basename(out)}.yaml`);
  writeFileSync(path, stringify(content));
  return path;
}

function pass(event: EngineEvent, { onStep, say }: RunOptions): void {
  if (event.kind === "told") onStep?.(event.step, event.metrics);
  else if (event.kind === "say") say?.(event.line);
}
