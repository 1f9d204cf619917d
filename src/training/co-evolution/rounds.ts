/** `rounds.jsonl`: what every round of co-evolution found and did, one line each, in the order of the steps. */
import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { replaceFile } from "#formats";
import type { Metrics } from "#metrics";
import type { Proportion, shortReport } from "#world-training";

export type Meters = ReturnType<typeof shortReport>;

export interface Round {
  readonly step: number; // training steps done
  readonly seconds: number;
  /** `measured`: nothing was to be learned. `failed`: the world stays, and `reason` says why. */
  readonly outcome: "refreshed" | "rolled back" | "measured" | "failed";
  readonly reason: string;
  readonly world: number; // the version from now on
  readonly before?: Meters; // of the world up to now, on the current policy's episodes
  readonly after?: Meters; // of the candidate
}

export function appendRound(path: string, round: Round): void {
  mkdirSync(dirname(path), { recursive: true });
  appendFileSync(path, `${JSON.stringify(round)}\n`);
}

/** A resumed run does the later rounds again. */
export function cutRounds(path: string, step: number): void {
  if (!existsSync(path)) return;
  const lines = readFileSync(path, "utf8").split("\n").filter(Boolean);
  const kept = lines.filter((line) => stepOf(line) <= step);
  if (kept.length < lines.length) replaceFile(path, [Buffer.from(kept.map((line) => `${line}\n`).join(""))]);
}

function stepOf(line: string): number {
  try {
    return (JSON.parse(line) as Round).step;
  } catch {
    return Number.POSITIVE_INFINITY; // half a line, from a run that was killed
  }
}

/** The meters of the world that goes on, and of the one before it where another took its place. */
export function roundMetrics({ outcome, before, after, world }: Round): Metrics {
  const now = outcome === "refreshed" ? after : before;
  return finite({
    ...(now && meterMetrics(now)),
    "world/rolled_back": Number(outcome === "rolled back"),
    "world/failed": Number(outcome === "failed"),
    "world/version": world,
    "world/false_positive_before": share(before?.falsePositive),
    "world/missed_success_before": share(before?.missedSuccess),
    "world/false_success_before": share(before?.falseSuccess),
    "world/agreement_before": share(before?.agreement),
  });
}

const meterMetrics = (meters: Meters): Record<string, number> => ({
  "world/false_positive": share(meters.falsePositive),
  "world/false_success": share(meters.falseSuccess),
  "world/missed_success": share(meters.missedSuccess),
  "world/agreement": share(meters.agreement),
  "world/dream_success": share(meters.dreamSuccess),
  "world/true_success": share(meters.trueSuccess),
  "world/gap": share(meters.dreamSuccess) - share(meters.trueSuccess),
});

/** Of nothing there is no share. */
const share = (of: Proportion | undefined): number => of?.share ?? Number.NaN;
const finite = (metrics: Record<string, number>): Metrics =>
  Object.fromEntries(Object.entries(metrics).filter(([, value]) => Number.isFinite(value)));
