/** How true a run's world was at each of its rounds of co-evolution: kept in a claim's results, and as a table. */
import { existsSync, readFileSync } from "node:fs";
import { z } from "zod";
import type { Meters, Round } from "#training";
import { percent } from "#training";
import { falsePositiveOf } from "#world-training";

const meters = ["falsePositive", "missedSuccess", "falseSuccess", "agreement"] as const;
type Meter = (typeof meters)[number];

const share = z.number().nullable();
const shares = z.strictObject({
  falsePositive: share,
  missedSuccess: share,
  falseSuccess: share,
  agreement: share,
});

export const toldRound = z.strictObject({
  step: z.int(),
  outcome: z.string(),
  reason: z.string(),
  seconds: z.number(),
  before: shares.optional(),
  after: shares.optional(),
});
export type ToldRound = z.infer<typeof toldRound>;

/** Of the file `rounds.jsonl`; none where there is none. A last line that was cut in the writing is left out. */
export function readRounds(path: string): ToldRound[] {
  if (!existsSync(path)) return [];
  return readFileSync(path, "utf8")
    .split("\n")
    .flatMap((line) => {
      try {
        const { step, outcome, reason, seconds, before, after } = JSON.parse(line) as Round;
        return [
          {
            ...{ step, outcome, seconds, reason: reason.split("\n")[0] ?? "" },
            ...(before && { before: sharesOf(before) }),
            ...(after && { after: sharesOf(after) }),
          },
        ];
      } catch {
        return [];
      }
    });
}

/** Rounds of earlier versions have no false positives, but what they follow from. */
const sharesOf = (found: Meters): z.infer<typeof shares> =>
  Object.fromEntries(
    meters.map((meter) => [meter, (found[meter] ?? falsePositiveOf(found)).share ?? null]),
  ) as z.infer<typeof shares>;

/** One row for each round of each run. */
export function roundsTable(
  runs: readonly { readonly label: string; readonly rounds: readonly ToldRound[] }[],
): string {
  const rows = runs.flatMap(({ label, rounds }) =>
    rounds.map(({ step, outcome, reason, seconds, before, after }) => {
      const pair = (meter: Meter): string =>
        [before, after].flatMap((found) => (found ? [percent(found[meter] ?? Number.NaN)] : [])).join(" → ");
      const told = before ? meters.map(pair).join(" | ") : `${reason} | | |`;
      return `| ${label} | ${step} | ${outcome} | ${told} | ${seconds.toFixed(0)} |`;
    }),
  );
  return [
    "| run | after step | outcome | P(dream success given real failure) before → after | P(dream failure given real success) | false success | agreement | seconds |",
    "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ...rows,
  ].join("\n");
}
