/** `dream-claim.ts OUT`: how true each run's world was at every round of co-evolution that `dream-claim.sh` let it have. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { percent } from "#training";
import type { Round } from "../src/training/co-evolution/rounds.ts";

const [out = "claims/dream"] = process.argv.slice(2);
console.log(
  "\n| run | after step | outcome | false success before → after | agreement before → after | seconds |",
);
console.log("| --- | --- | --- | --- | --- | --- |");
for (const run of readdirSync(out).sort()) {
  for (const { step, outcome, before, after, reason, seconds } of roundsOf(join(out, run))) {
    const pair = (meter: "falseSuccess" | "agreement"): string =>
      [before, after].flatMap((meters) => (meters ? [share(meters[meter].share)] : [])).join(" → ");
    const told = before ? `${pair("falseSuccess")} | ${pair("agreement")}` : `${reason.split("\n")[0]} |`;
    console.log(`| ${run} | ${step} | ${outcome} | ${told} | ${seconds.toFixed(0)} |`);
  }
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
