/** What `reverie claim --dry-run` says: every command, what is done already, and how long the rest takes if anybody measured it. */
import { counted, formatDuration } from "#metrics";
import { commandLine } from "../next-commands.ts";
import type { Ledger } from "./ledger.ts";
import type { ClaimPlan, Part } from "./plan.ts";

export function planText(plan: ClaimPlan, ledger: Ledger): string {
  const { claim, parts, name, out, warnings } = plan;
  const isDone = (part: Part): boolean => ledger.isDone(part, parts);
  const count = (work: Part["work"], done: boolean): number =>
    parts.filter((part) => part.work === work && isDone(part) === done).length;
  const amounts = (done: boolean): string =>
    `${counted(count("train", done), "training")}, ${counted(count("eval", done), "evaluation")}`;
  const { minutes, at_once } = claim.limits;
  const limit = minutes === undefined ? "" : `, at most ${minutes} minutes a training`;
  return [
    `${name}: ${claim.question}`,
    `results  ${out}`,
    `to do    ${amounts(false)}; ${at_once} at a time${limit}`,
    `done     ${amounts(true)}`,
    ...goalLine(plan),
    ...timeLines(plan, ledger),
    ...warnings.map((warning) => `warning  ${warning}`),
    "",
    ...parts.map((part) => `${stateOf(part, plan, ledger).padEnd(7)}  ${commandLine(part.words)}`),
  ].join("\n");
}

function stateOf(part: Part, { parts }: ClaimPlan, ledger: Ledger): string {
  if (ledger.isDone(part, parts)) return "done";
  return part.work === "train" && ledger.of(part.id) ? "resume" : "to do";
}

function goalLine({ claim: { goal } }: ClaimPlan): string[] {
  if (!goal) return ["goal     none: the results are told, nothing is decided"];
  const asked = Object.entries(goal).map(([key, value]) => `${key} ${value}`);
  return [`goal     ${asked.join(", ")}`];
}

/** Only from what was measured: by finished parts of this folder, or by whom the file names. */
function timeLines(plan: ClaimPlan, ledger: Ledger): string[] {
  const { claim, parts } = plan;
  const left = parts.filter((part) => !ledger.isDone(part, parts));
  if (left.length === 0) return [];
  const works = ["train", "eval"] as const;
  const estimates = works.map((work) =>
    estimate(plan, ledger, work, left.filter((part) => part.work === work).length),
  );
  const known = estimates.filter((each) => each !== undefined);
  if (known.length < estimates.length)
    return ["time     not known: no such part of this folder has ended yet, and the file expects nothing"];
  const seconds = known.reduce((sum, each) => sum + each.seconds, 0);
  const sources = [...new Set(known.filter((each) => each.seconds > 0).map(({ source }) => source))];
  return [
    `time     about ${formatDuration(seconds)}, ${claim.limits.at_once} at a time (${sources.join("; ")})`,
  ];
}

function estimate(
  { claim, parts }: ClaimPlan,
  ledger: Ledger,
  work: Part["work"],
  count: number,
): { readonly seconds: number; readonly source: string } | undefined {
  if (count === 0) return { seconds: 0, source: "" };
  const measured = parts.flatMap((part) => {
    const entry = part.work === work ? ledger.of(part.id) : undefined;
    return entry?.state === "done" || entry?.state === "time limit" ? [entry.seconds] : [];
  });
  const rounds = Math.ceil(count / claim.limits.at_once);
  const word = work === "train" ? "training" : "evaluation";
  if (measured.length > 0) {
    const mean = measured.reduce((sum, each) => sum + each, 0) / measured.length;
    const source = `${word}s took ${formatDuration(mean)} each here, mean of ${measured.length}`;
    return { seconds: rounds * mean, source };
  }
  if (!claim.expected) return undefined;
  const each = 60 * (work === "train" ? claim.expected.run_minutes : claim.expected.evaluation_minutes);
  return { seconds: rounds * each, source: claim.expected.origin };
}
