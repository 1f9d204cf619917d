/** `claim-table.ts OUT`: what a claim's evaluations found, one row each: `OUT/eval/<policy>_<how>/results.json`. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { percent, readEvaluation } from "#training";

const [out = "claims"] = process.argv.slice(2);
const folder = join(out, "eval");
const names = existsSync(folder) ? readdirSync(folder).sort() : [];

console.log("| policy | success in the simulator | 95 % interval | episodes |\n| --- | --- | --- | --- |");
for (const name of names) {
  const path = join(folder, name, "results.json");
  if (!existsSync(path)) continue;
  const { success, low, high, episodes } = readEvaluation(path);
  console.log(`| ${name} | ${percent(success)} | ${percent(low)} – ${percent(high)} | ${episodes} |`);
}
