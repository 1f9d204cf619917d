/** What a claim's folder holds so far, as results: of every planned run its training, its evaluations, and what went wrong. */
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { type ClaimResults, gatherRun, runName } from "#claims";
import type { Ledger } from "./ledger.ts";
import type { ClaimPlan, Part, PlannedRun } from "./plan.ts";

export function gatherResults(plan: ClaimPlan, ledger: Ledger): ClaimResults {
  const { claim, name } = plan;
  return {
    kind: "claim",
    format: 1,
    claim: {
      name,
      question: claim.question,
      config: claim.config,
      overrides: claim.overrides,
      evaluations: Object.keys(claim.evaluations),
      ...(claim.goal && { goal: claim.goal }),
      plot_title: claim.plot.title,
    },
    arms: plan.runs.map((run) => gatherPlanned(plan, ledger, run)),
  };
}

function gatherPlanned({ parts }: ClaimPlan, ledger: Ledger, { name, kind, seed }: PlannedRun) {
  const own = parts.filter((part) => part.run === runName(name, seed));
  const training = own.find(({ work }) => work === "train");
  const entry = training && ledger.of(training.id);
  const notes = own.flatMap((part) => noteOf(part, ledger));
  return gatherRun({
    ...{ name, kind, seed },
    ...(entry && { command: entry.command, settings_digest: entry.digest, seconds: entry.seconds }),
    ...(notes.length > 0 && { notes }),
    training: training && { folder: training.folder, experiment: dirname(training.checkpoints ?? "") },
    evaluations: own.flatMap(({ id, folder, evaluation }) =>
      evaluation === undefined ? [] : [{ name: evaluation, folder, command: ledger.of(id)?.command }],
    ),
  });
}

/** What is to be known of a part that did not simply end well. */
function noteOf({ id, evaluation, folder }: Part, ledger: Ledger): string[] {
  const { state, reason } = ledger.of(id) ?? {};
  if (state === "done") return [];
  const what = evaluation ?? "training";
  if (state !== undefined) return [`${what}: ${reason === undefined ? state : `${state}: ${reason}`}`];
  return existsSync(folder) ? [`${what}: found in the folder; its command is not recorded`] : [];
}
