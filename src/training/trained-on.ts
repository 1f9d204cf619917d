/**
 * `trained-on.json`, beside a model's weights: which stored starts it has learned from.
 *
 * An evaluation on starts that training drew from tells less than one on new ones. So whoever saves trained weights writes down
 * what they saw, added to what the weights they began with had seen, and an evaluation says how many of its starts were seen.
 * Weights without this file may have seen anything: then the record is not complete, and the answer is "unknown".
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { CheckedConfig } from "#config";
import { readJsonFile, writeJsonFile } from "#formats";
import type { Demonstrations } from "#recordings";
import { UserError } from "#registry";
import { findSuite, type Suite, storedStartOf } from "#simulators";

const fileName = "trained-on.json";

const recordSchema = z.strictObject({
  format: z.literal("reverie trained-on 1"),
  complete: z.boolean().describe("every training since the first random weights is known"),
  trainings: z.array(z.string()).describe("in their order, in words"),
  stored_starts: z
    .record(z.string(), z.union([z.literal("all"), z.array(z.int().min(0))]))
    .describe("by file of a task's stored starts: those that were trained on"),
});
export type TrainedOn = z.infer<typeof recordSchema>;

const format = "reverie trained-on 1";
const unknown: TrainedOn = { format, complete: false, trainings: [], stored_starts: {} };
/** Of weights that were just drawn. */
export const untrained: TrainedOn = { ...unknown, complete: true };

export function writeTrainedOn(model: string, record: TrainedOn): void {
  writeJsonFile(join(model, fileName), record);
}

/** What is known of a model folder; a record that cannot be read is none. */
export function readTrainedOn(model: string): TrainedOn {
  const path = join(model, fileName);
  if (!existsSync(path)) return unknown;
  try {
    const parsed = recordSchema.safeParse(readJsonFile(path));
    return parsed.success ? parsed.data : unknown;
  } catch (error) {
    if (error instanceof UserError) return unknown;
    throw error;
  }
}

/** Of the policy that a configuration begins with: its model, and adapters or weights laid over it. */
export function trainedOnBefore({ config }: CheckedConfig): TrainedOn {
  const { model_path: model, lora_path: adapters } = config.actor.model;
  const base = readTrainedOn(model);
  const over = typeof adapters === "string" ? readTrainedOn(adapters) : untrained;
  const laidOver = config.runner.ckpt_path ? unknown : untrained;
  return [over, laidOver].reduce(joined, base);
}

/** Of the policy that a run of the configuration has trained. */
export function trainedOnAfter(checked: CheckedConfig): TrainedOn {
  const { env, algorithm } = checked.config;
  const { env_type, task_suite_name, task_id_filter } = env.train;
  const suite = typeof task_suite_name === "string" ? task_suite_name : "unnamed tasks";
  const training = `${algorithm.adv_type} in ${env_type}, ${suite}`;
  const simulated = checked.families.train?.plays === "suite";
  const tasks = simulated ? chosenTasks(findSuite(suite), task_id_filter) : [];
  const stored_starts = Object.fromEntries(tasks.map(({ file }) => [file, "all" as const]));
  return joined(trainedOnBefore(checked), { ...untrained, trainings: [training], stored_starts });
}

/** Of a policy that has learned from demonstrations, too. */
export function trainedOnDemonstrations(before: TrainedOn, sets: readonly Demonstrations[]): TrainedOn {
  return sets.reduce((record, { info, episodes }) => {
    const suite = findSuite(info.suite);
    const seen: Record<string, number[]> = {};
    for (const { task, start, seed } of episodes) {
      const number = start >= 0 ? start : storedStartOf(suite, task, seed);
      if (number !== undefined) (seen[fileOf(suite, task)] ??= []).push(number);
    }
    const training = `demonstrations of ${info.suite}`;
    return joined(record, { ...untrained, trainings: [training], stored_starts: seen });
  }, before);
}

export interface SeenStarts {
  /** Of the evaluation's stored starts, how many are known to have been trained on. */
  readonly seen: number;
  readonly of: number;
  /** Whether there may be more. */
  readonly complete: boolean;
}

export function seenStoredStarts(record: TrainedOn, suiteName: string, filter?: unknown): SeenStarts {
  const suite = findSuite(suiteName);
  const tasks = chosenTasks(suite, filter);
  const counts = tasks.map(({ task }) => suite.pack.readInitStates(suite.tasks[task]!).count);
  const seen = tasks.map(({ file }, i) => {
    const starts = record.stored_starts[file] ?? [];
    return starts === "all" ? counts[i]! : starts.length;
  });
  const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);
  return { seen: sum(seen), of: sum(counts), complete: record.complete };
}

function joined(a: TrainedOn, b: TrainedOn): TrainedOn {
  const files = [...new Set([...Object.keys(a.stored_starts), ...Object.keys(b.stored_starts)])];
  const both = (file: string) => {
    const [one, two] = [a.stored_starts[file] ?? [], b.stored_starts[file] ?? []];
    if (one === "all" || two === "all") return "all" as const;
    return [...new Set([...one, ...two])].sort((x, y) => x - y);
  };
  return {
    format,
    complete: a.complete && b.complete,
    trainings: [...a.trainings, ...b.trainings],
    stored_starts: Object.fromEntries(files.map((file) => [file, both(file)])),
  };
}

/** Suites may share tasks, so starts are named by their file. */
const fileOf = ({ pack, tasks }: Suite, task: number): string => `${pack.name}/${tasks[task]?.initStates}`;

function chosenTasks(suite: Suite, filter: unknown): { readonly task: number; readonly file: string }[] {
  const wanted = Array.isArray(filter) ? filter : suite.tasks.map((_, task) => task);
  return wanted.map((task: number) => ({ task, file: fileOf(suite, task) }));
}
