/**
 * `results.json` of the main job: one policy before and after training, on the same starts, and whether the difference can be luck.
 *
 * Twice: on the stored starts, which training draws from, and on fresh ones, which it never sees.
 */
import { z } from "zod";
import { readJsonFile, writeJsonFile } from "#formats";
import { UserError } from "#registry";
import type { EvaluationFile } from "#training";
import { type Comparison, compareEvaluations, versions } from "#training";

const rate = z.object({
  success: z.number(),
  low: z.number(),
  high: z.number(),
  episodes: z.int().positive(),
});

/** How the training ended: all its steps were taken, or its time was used up. */
const ending = z.enum(["steps", "time"]);

const significance = z.strictObject({
  test: z.literal("exact McNemar, two-sided"),
  pairs: z.int(),
  gained: z.int().describe("starts that only the trained policy solved"),
  lost: z.int().describe("starts that only the base policy solved"),
  p: z.number(),
  significant: z.boolean().describe("p < 0.05"),
  intervals_overlap: z.boolean(),
});

const change = {
  before: rate,
  after: rate,
  gain: z.number().describe("difference of success, 0.15 is 15 points"),
  significance,
};

export const improvementFile = z.strictObject({
  kind: z.literal("improvement"),
  config: z.string(),
  seed: z.int(),
  control: z.boolean().describe("advantages were shuffled: nothing can be learned from them"),
  protocol: z.record(z.string(), z.unknown()),
  ...change,
  tasks: z.array(z.strictObject({ task: z.string(), before: rate, after: rate })),
  fresh: z
    .strictObject({ seed: z.int(), ...change })
    .optional()
    .describe("the same on fresh starts; absent where they were not played"),
  training: z.strictObject({ steps: z.int(), planned_steps: z.int(), ended_by: ending, episodes: z.int() }),
  seconds: z.number().describe("of the whole job, set-up excluded"),
  phases: z.record(z.string(), z.number()).describe("seconds of each part"),
  files: z.record(z.string(), z.string()).describe("relative to this file"),
  versions: z.record(z.string(), z.string()),
});
export type ImprovementFile = z.infer<typeof improvementFile>;

export type Change = Pick<ImprovementFile, "before" | "after" | "gain" | "significance">;
export type ImprovementFacts = Pick<ImprovementFile, "control" | "training" | "seconds" | "phases" | "files">;

/** An evaluation before training and the same one after it. */
export interface BeforeAfter {
  readonly before: EvaluationFile;
  readonly after: EvaluationFile;
}

export function describeImprovement(
  { before, after }: BeforeAfter,
  fresh: BeforeAfter | undefined,
  facts: ImprovementFacts,
): ImprovementFile {
  const comparison = compareEvaluations(before, after);
  return {
    kind: "improvement",
    config: after.config,
    seed: Number(after.protocol.seed),
    ...facts,
    protocol: { ...after.protocol },
    ...changeOf(comparison),
    tasks: comparison.tasks.map((task) => ({ ...task })),
    ...(fresh && {
      fresh: { seed: seedOf(fresh.after), ...changeOf(compareEvaluations(fresh.before, fresh.after)) },
    }),
    versions: versions(),
  };
}

const seedOf = ({ protocol }: EvaluationFile): number => (protocol.starts as { seed?: number }).seed ?? 0;

function changeOf({ before, after, pairs, gained, lost, p }: Comparison): Change {
  return {
    before: { ...before },
    after: { ...after },
    gain: after.success - before.success,
    significance: {
      test: "exact McNemar, two-sided",
      pairs,
      gained,
      lost,
      p,
      significant: p < 0.05,
      intervals_overlap: overlap(before, after),
    },
  };
}

type Interval = { readonly low: number; readonly high: number };
const overlap = (a: Interval, b: Interval): boolean => a.low <= b.high && b.low <= a.high;

export function writeImprovement(path: string, file: ImprovementFile): void {
  writeJsonFile(path, improvementFile.parse(file));
}

export function readImprovement(path: string): ImprovementFile {
  const parsed = improvementFile.safeParse(readJsonFile(path));
  if (parsed.success) return parsed.data;
  throw new UserError(`${path} is not a result of reverie start: ${z.prettifyError(parsed.error)}`);
}
