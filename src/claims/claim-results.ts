/**
 * `claim.json`: what a claim found, run by run and episode by episode.
 *
 * Tables, intervals, tests and curves follow from it alone, so it can be kept in a repository when runs and checkpoints are long gone.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { readJsonFile, writeJsonFile } from "#formats";
import { UserError } from "#registry";
import type { EvaluatedEpisode } from "#training";
import { type Rate, rateOf } from "#training";
import { goalSchema } from "./claim-file.ts";
import { packedOutcomes, unpackOutcomes } from "./outcomes.ts";
import { toldRound } from "./told-rounds.ts";

const evaluated = z.strictObject({
  name: z.string(),
  starts: z.string().describe("fresh starts 0, stored starts"),
  sampling: z.string(),
  seed: z.int(),
  command: z.string().optional(),
  seconds: z.number(),
  success: z.number(),
  low: z.number(),
  high: z.number(),
  episodes: z.array(packedOutcomes),
  versions: z.record(z.string(), z.string()),
});

/** What was run to get something. Parts that were found, not run, have none. */
const made = {
  command: z.string().optional(),
  settings_digest: z.string().optional(),
  seconds: z.number().optional(),
};

const armResult = z.strictObject({
  name: z.string(),
  kind: z.string().describe("base, true, or the kind of its arm"),
  seed: z.int().nullable(),
  ...made,
  /** Why there is no result, or less than was asked for. */
  notes: z.array(z.string()).optional(),
  curve: z.array(z.number().nullable()).describe("success of each training step's episodes"),
  rounds: z.array(toldRound),
  evaluations: z.array(evaluated),
});
export type ArmResult = z.infer<typeof armResult>;

const claimResults = z.strictObject({
  kind: z.literal("claim"),
  format: z.literal(1),
  claim: z.strictObject({
    name: z.string(),
    question: z.string(),
    config: z.string(),
    overrides: z.array(z.string()),
    evaluations: z.array(z.string()),
    goal: goalSchema.optional(),
    plot_title: z.string(),
  }),
  arms: z.array(armResult),
});
export type ClaimResults = z.infer<typeof claimResults>;

export const claimFileName = "claim.json";

export function writeClaimResults(folder: string, results: ClaimResults): void {
  writeJsonFile(join(folder, claimFileName), claimResults.parse(results));
}

/** Evaluations of one name played the same starts in the same way, or comparing them means nothing. */
export function requireSameProtocol({ arms, claim }: ClaimResults): void {
  for (const name of claim.evaluations) {
    const own = arms.flatMap(({ evaluations }) => evaluations.filter((each) => each.name === name));
    const ways = [
      ...new Set(own.map(({ starts, sampling, seed }) => `${starts}, ${sampling}, seed ${seed}`)),
    ];
    if (ways.length > 1)
      throw new UserError(
        `evaluations ${name} of this folder were not made in the same way: ${ways.join("; ")}`,
      );
  }
}

export function readClaimResults(folder: string): ClaimResults {
  const path = join(folder, claimFileName);
  if (!existsSync(path))
    throw new UserError(`there is no ${path}; reverie claim writes it when its runs are done`);
  const parsed = claimResults.safeParse(readJsonFile(path));
  if (!parsed.success)
    throw new UserError(`${path} is not the result of reverie claim: ${z.prettifyError(parsed.error)}`);
  for (const { name, seed, evaluations } of parsed.data.arms)
    for (const { name: how, episodes, success } of evaluations)
      if (rateOf(unpackOutcomes(episodes)).success !== success)
        throw new UserError(
          `${path} contradicts itself: ${runName(name, seed)}, ${how}: ${success} is not what its outcomes give`,
        );
  return parsed.data;
}

/** true_0; base, which has no seed of training. */
export const runName = (name: string, seed: number | null): string =>
  seed === null ? name : `${name}_${seed}`;

export type Evaluated = z.infer<typeof evaluated>;

export const outcomesOf = ({ episodes }: Evaluated): EvaluatedEpisode[] => unpackOutcomes(episodes);
export const rateOfEvaluation = (one: Evaluated): Rate => rateOf(outcomesOf(one));
