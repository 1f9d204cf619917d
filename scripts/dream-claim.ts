/** `dream-claim.ts OUT`: how true each run's world was at every round of co-evolution that `dream-claim.sh` let it have. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { percent } from "#training";
import { falsePositiveOf } from "#world-training";
import type { Meters, Round } from "../src/training/co-evolution/rounds.ts";

type Meter = (typeof columns)[number];
const columns = ["falsePositive", "missedSuccess", "falseSuccess", "agreement"] as const;
const [out = "claims/dream"] = process.argv.slice(2);
console.log(
  "\n| run | after step | outcome | P(dream success given real failure) before → after | P(dream failure given real success) | " +
    "false success | agreement | seconds |",
);
console.log("| --- | --- | --- | --- | --- | --- | --- | --- |");
for (const run of readdirSync(out).sort()) {
  for (const { step, outcome, before, after, reason, seconds } of roundsOf(join(out, run))) {
    const pair = (meter: Meter): string =>
      [before, after].flatMap((meters) => (meters ? [share(shareOf(meters, meter))] : [])).join(" → ");
    const told = before ? columns.map(pair).join(" | ") : `${reason.split("\n")[0]} | | |`;
    console.log(`| ${run} | ${step} | ${outcome} | ${told} | ${seconds.toFixed(0)} |`);
  }
}

/** Rounds of earlier versions have no false positives, but what they follow from. */
function shareOf(meters: Meters, meter: Meter): number | null {
  return (meters[meter] ?? falsePositiveOf(meters)).share;
}

function roundsOf(run: string): Round[] {
  const inner = existsSync(join(run, "config.yaml")) ? readdirSync(run) : [];
  const file = inner.map((name) => join(run, name, "co-evolution", "rounds.jsonl")).find(existsSync);
  const lines = file === undefined ? [] : readFileSync(file, "utf8").split("\n").filter(Boolean);
  return lines.map((line) => JSON.parse(line) as Round);
}

/** Of nothing there is no share; files have null for it. */
function share(value: number | null): string {
  return value === null ? "–" : percent(value);
}
