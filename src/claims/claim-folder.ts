/** A claim's folder: results gathered from its runs and evaluations, and the pages that follow from them. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { metricsFile, readMetricsFile } from "#metrics";
import { readEvaluation, startsName } from "#training";
import { drawClaimCurves } from "./claim-curves.ts";
import {
  type ArmResult,
  type ClaimResults,
  type Evaluated,
  requireSameProtocol,
  writeClaimResults,
} from "./claim-results.ts";
import { claimText } from "./claim-text.ts";
import { packOutcomes } from "./outcomes.ts";
import { readRounds } from "./told-rounds.ts";

/** Where the things of one run lie. */
export interface RunSources extends Omit<ArmResult, "curve" | "rounds" | "evaluations"> {
  /** Of `reverie train`; `experiment` is the folder in it that holds checkpoints. */
  readonly training?: { readonly folder: string; readonly experiment: string } | undefined;
  /** Of `reverie eval`. Those without results are left out. */
  readonly evaluations: readonly {
    readonly name: string;
    readonly folder: string;
    readonly command?: string | undefined;
  }[];
}

export function gatherRun({ training, evaluations, ...told }: RunSources): ArmResult {
  return {
    ...told,
    curve: training ? curveOf(training.folder) : [],
    rounds: training ? readRounds(join(training.experiment, "co-evolution", "rounds.jsonl")) : [],
    evaluations: evaluations.flatMap(({ name, folder, command }) => {
      const path = join(folder, "results.json");
      return existsSync(path) ? [evaluatedIn(path, name, command)] : [];
    }),
  };
}

function evaluatedIn(path: string, name: string, command: string | undefined): Evaluated {
  const file = readEvaluation(path);
  const { success, low, high, seconds, protocol } = file;
  return {
    ...{ name, success, low, high, seconds },
    starts: startsName(protocol.starts),
    sampling: String(protocol.sampling),
    seed: Number(protocol.seed),
    ...(command !== undefined && { command }),
    episodes: packOutcomes(file.trials),
    versions: file.versions,
  };
}

/** Success of each training step; four digits are more than its episodes can tell. */
function curveOf(folder: string): (number | null)[] {
  const path = metricsFile(folder);
  if (!existsSync(path)) return [];
  return readMetricsFile(path).map(({ metrics }) => {
    const success = metrics["env/success_once"];
    return success === undefined || !Number.isFinite(success) ? null : Number(success.toFixed(4));
  });
}

/** `claim.json` and all that follows from it. Gives the page. */
export function writeClaim(folder: string, results: ClaimResults): Promise<string> {
  requireSameProtocol(results);
  writeClaimResults(folder, results);
  return writeClaimPages(folder, results);
}

/** What follows from `claim.json` alone: `claim.md` and the curves. Gives the page. */
export async function writeClaimPages(folder: string, results: ClaimResults): Promise<string> {
  const text = claimText(results);
  writeFileSync(join(folder, "claim.md"), text);
  const curves = await drawClaimCurves(results);
  if (curves) {
    writeFileSync(join(folder, "curves.svg"), curves.svg);
    writeFileSync(join(folder, "curves.png"), curves.png);
  }
  return text;
}
