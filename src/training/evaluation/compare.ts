/** Two evaluations of the same starts, start by start: is one policy better, or is it luck? */
import { counted } from "#metrics";
import { UserError } from "#registry";
import { startsName } from "./played-starts.ts";
import { type EvaluationFile, percent } from "./results.ts";
import { exactMcNemar, pairedDifference, type Rate, rateOf } from "./statistics.ts";

export interface Comparison {
  readonly pairs: number;
  readonly unpaired: number; // starts that only one of the two has played
  readonly before: Rate;
  readonly after: Rate;
  readonly gained: number; // starts that only the second solved
  readonly lost: number; // starts that only the first solved
  readonly p: number; // exact McNemar, two-sided
  /** Of `after.success - before.success`, with its 95 % interval. */
  readonly difference: { readonly change: number; readonly low: number; readonly high: number };
  readonly tasks: readonly { readonly task: string; readonly before: Rate; readonly after: Rate }[];
}

/** One episode: which start, and whether it succeeded. */
export type EvaluatedEpisode = Pick<EvaluationFile["trials"][number], "task" | "trial" | "pass" | "success">;
const keyOf = ({ task, trial, pass }: EvaluatedEpisode): string => `${pass}/${trial}/${task}`;

export function compareEvaluations(before: EvaluationFile, after: EvaluationFile): Comparison {
  const [one, two] = [startsName(before.protocol.starts), startsName(after.protocol.starts)];
  if (one !== two)
    throw new UserError(
      `nothing to compare: one was evaluated on ${one} and the other on ${two}; evaluate both with the same --starts`,
    );
  const comparison = compareOutcomes(before.trials, after.trials);
  if (!comparison)
    throw new UserError(
      `nothing to compare: ${before.protocol.suite ?? before.config} and ${after.protocol.suite ?? after.config} share no start`,
    );
  return comparison;
}

/** Undefined where they share no start. */
export function compareOutcomes(
  before: readonly EvaluatedEpisode[],
  after: readonly EvaluatedEpisode[],
): Comparison | undefined {
  const first = new Map(before.map((trial) => [keyOf(trial), trial]));
  const pairs = after.flatMap((trial) => {
    const other = first.get(keyOf(trial));
    return other ? [{ before: other, after: trial }] : [];
  });
  if (pairs.length === 0) return undefined;
  const count = (one: boolean, two: boolean): number =>
    pairs.filter((pair) => pair.before.success === one && pair.after.success === two).length;
  const counts = {
    both: count(true, true),
    gained: count(false, true),
    lost: count(true, false),
    neither: count(false, false),
  };
  const names = [...new Set(pairs.map((pair) => pair.after.task))];
  return {
    pairs: pairs.length,
    unpaired: before.length + after.length - 2 * pairs.length,
    before: rateOf(pairs.map((pair) => pair.before)),
    after: rateOf(pairs.map((pair) => pair.after)),
    gained: counts.gained,
    lost: counts.lost,
    p: exactMcNemar(counts.gained, counts.lost),
    difference: pairedDifference(counts),
    tasks: names.map((task) => {
      const own = pairs.filter((pair) => pair.after.task === task);
      return {
        task,
        before: rateOf(own.map((pair) => pair.before)),
        after: rateOf(own.map((pair) => pair.after)),
      };
    }),
  };
}

export function comparisonText(comparison: Comparison): string {
  const { tasks, before, after, gained, lost, p, pairs, unpaired } = comparison;
  const width = Math.max(...tasks.map(({ task }) => task.length), 4);
  const interval = ({ success, low, high }: Rate): string =>
    `${percent(success).padStart(7)} (${percent(low)} – ${percent(high)})`.padEnd(30);
  const rows = [...tasks, { task: "all", before, after }].map(
    (row) => `${row.task.padEnd(width)}  ${interval(row.before)}${interval(row.after)}`,
  );
  const change = 100 * (after.success - before.success);
  return [
    `${"task".padEnd(width)}  ${"A".padStart(7)}${"".padEnd(23)}${"B".padStart(7)}`,
    ...rows,
    "",
    `${counted(pairs, "start")} played by both${unpaired > 0 ? `, ${unpaired} by one only (left out)` : ""}: ` +
      `B solved ${gained} that A did not, A ${lost} that B did not`,
    `difference ${change >= 0 ? "+" : ""}${change.toFixed(1)} points, exact McNemar p = ${formatP(p)}: ${verdict(p, change)}`,
  ].join("\n");
}

export const formatP = (p: number): string => (p < 1e-4 ? p.toExponential(1) : p.toFixed(4));

function verdict(p: number, change: number): string {
  if (p >= 0.05) return "not significant at 5 %; it may be luck";
  return change > 0 ? "B is better" : "A is better";
}
