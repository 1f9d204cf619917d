/**
 * `dream-claim.ts OUT`: what `dream-claim.sh` found, as tables: success in the simulator before and after, and how true each run's world
 * was at every round.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { percent, readEvaluation } from "#training";
import type { Round } from "../src/training/co-evolution/rounds.ts";

const [out = "claims/dream"] = process.argv.slice(2);
const names = existsSync(join(out, "eval"))
  ? readdirSync(join(out, "eval")).filter((name) => !name.endsWith(".log"))
  : [];

console.log("| policy | success in the simulator | 95 % interval | episodes |\n| --- | --- | --- | --- |");
for (const name of names.sort()) {
  const path = join(out, "eval", name, "results.json");
  if (!existsSync(path)) continue;
  const { success, low, high, episodes } = readEvaluation(path);
  console.log(`| ${name} | ${percent(success)} | ${percent(low)} – ${percent(high)} | ${episodes} |`);
}

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
