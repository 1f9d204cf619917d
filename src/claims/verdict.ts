/** Whether a claim's goal is reached: each thing it asks for, with what was found. */
import { type Comparison, compareOutcomes, formatP } from "#training";
import { isControl } from "./claim-file.ts";
import { type ArmResult, type ClaimResults, outcomesOf, runName } from "./claim-results.ts";

/** One thing that a goal asks for. */
export interface Verdict {
  readonly text: string;
  readonly met: boolean;
}

/** Against where all began, in one evaluation; undefined where one of the two was not evaluated. */
export function againstBase(
  { arms }: ClaimResults,
  arm: ArmResult,
  evaluation: string,
): Comparison | undefined {
  const base = arms.find(({ kind }) => kind === "base");
  return base && compareArms(base, arm, evaluation);
}

export function compareArms(first: ArmResult, second: ArmResult, evaluation: string): Comparison | undefined {
  const [one, two] = [first, second].map((arm) => arm.evaluations.find(({ name }) => name === evaluation));
  return one && two && compareOutcomes(outcomesOf(one), outcomesOf(two));
}

/** Nothing where there is no goal. What was not measured is not reached. */
export function verdictOf(results: ClaimResults): Verdict[] {
  const { goal } = results.claim;
  if (!goal) return [];
  const trueRuns = results.arms.filter(({ kind }) => kind === "true");
  const controls = results.arms.filter(({ kind }) => isControl(kind));
  const { evaluation, gain_points, p_below, control_below, control_gain_points } = goal;
  const each = (
    arms: readonly ArmResult[],
    ask: (found: Comparison) => boolean,
    tell: (found: Comparison) => string,
  ) => {
    const found = arms.map((arm) => ({ arm, comparison: againstBase(results, arm, evaluation) }));
    const words = found.map(
      ({ arm, comparison }) =>
        `${runName(arm.name, arm.seed)} ${comparison ? tell(comparison) : "not measured"}`,
    );
    return {
      met: found.every(({ comparison }) => comparison !== undefined && ask(comparison)),
      words: words.join(", "),
    };
  };
  const findings: Verdict[] = [];
  const add = (what: string, { met, words }: { met: boolean; words: string }): void => {
    findings.push({ met, text: `${what} (${evaluation}): ${words}` });
  };
  if (gain_points !== undefined)
    add(
      `every true run gains at least ${gain_points} points`,
      each(trueRuns, (c) => gainOf(c) >= gain_points, gainText),
    );
  if (p_below !== undefined)
    add(
      `exact McNemar p below ${p_below} for every true run`,
      each(
        trueRuns,
        (c) => c.p < p_below,
        ({ p }) => formatP(p),
      ),
    );
  if (control_below)
    add("every control ends below every true run", controlsBelow(trueRuns, controls, evaluation));
  if (control_gain_points !== undefined)
    add(
      `no control gains more than ${control_gain_points} points`,
      each(controls, (c) => gainOf(c) <= control_gain_points, gainText),
    );
  return findings;
}

const gainOf = ({ difference }: Comparison): number => 100 * difference.change;
const gainText = (comparison: Comparison): string => pointsText(comparison.difference.change);

/** +26.4 */
export const pointsText = (change: number): string =>
  `${change < 0 ? "−" : "+"}${Math.abs(100 * change).toFixed(1)}`;

function controlsBelow(trueRuns: readonly ArmResult[], controls: readonly ArmResult[], evaluation: string) {
  const rates = (arms: readonly ArmResult[]): number[] =>
    arms.map(({ evaluations }) => evaluations.find(({ name }) => name === evaluation)?.success ?? Number.NaN);
  const lowest = Math.min(...rates(trueRuns));
  const highest = Math.max(...rates(controls));
  const share = (rate: number): string =>
    Number.isFinite(rate) ? `${(100 * rate).toFixed(1)} %` : "not measured";
  // A NaN, of a run that was not measured, is below nothing.
  return {
    met: highest < lowest,
    words: `the lowest true run ${share(lowest)}, the highest control ${share(highest)}`,
  };
}
