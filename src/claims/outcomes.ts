/** Outcomes of episodes as text, small enough for a repository: `{ task, pass, trials: "0-149", outcomes: "0110…" }`. */
import { z } from "zod";
import { UserError } from "#registry";
import type { EvaluatedEpisode } from "#training";

export const packedOutcomes = z.strictObject({
  task: z.string(),
  pass: z.int(),
  trials: z
    .string()
    .regex(/^\d+(-\d+)?(,\d+(-\d+)?)*$/)
    .describe("which starts of the task, in the order of the outcomes"),
  outcomes: z
    .string()
    .regex(/^[01]+$/)
    .describe("1 for success"),
});
export type PackedOutcomes = z.infer<typeof packedOutcomes>;

/** A file may say 0-999999999; no evaluation has so many starts of one task. */
const mostTrials = 1_000_000;

export function packOutcomes(trials: readonly EvaluatedEpisode[]): PackedOutcomes[] {
  const groups = new Map<string, EvaluatedEpisode[]>();
  for (const each of trials) {
    const key = JSON.stringify([each.task, each.pass]);
    groups.set(key, [...(groups.get(key) ?? []), each]);
  }
  return [...groups.values()].map((group) => {
    const sorted = group.toSorted((a, b) => a.trial - b.trial);
    const { task, pass } = sorted[0]!;
    return {
      task,
      pass,
      trials: rangesText(sorted.map(({ trial }) => trial)),
      outcomes: sorted.map(({ success }) => (success ? "1" : "0")).join(""),
    };
  });
}

export function unpackOutcomes(packed: readonly PackedOutcomes[]): EvaluatedEpisode[] {
  return packed.flatMap(({ task, pass, trials, outcomes }) => {
    const numbers = readRanges(trials);
    if (numbers.length !== outcomes.length)
      throw new UserError(
        `${task}: ${numbers.length} starts (${trials}) and ${outcomes.length} outcomes do not fit`,
      );
    return numbers.map((trial, i) => ({ task, pass, trial, success: outcomes[i] === "1" }));
  });
}

/** "0-149,200" of sorted numbers. */
function rangesText(numbers: readonly number[]): string {
  const ranges: [number, number][] = [];
  for (const number of numbers) {
    const last = ranges.at(-1);
    if (last && number === last[1] + 1) last[1] = number;
    else ranges.push([number, number]);
  }
  return ranges.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(",");
}

function readRanges(text: string): number[] {
  return text.split(",").flatMap((range) => {
    const [from = 0, to = from] = range.split("-").map(Number);
    if (to < from || to - from >= mostTrials) throw new UserError(`"${range}" is no range of starts`);
    return Array.from({ length: to - from + 1 }, (_, i) => from + i);
  });
}
