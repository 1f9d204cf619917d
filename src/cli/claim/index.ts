/** `claim FILE`: runs a learning claim whole, with its controls and evaluations, and says whether it holds. */
import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { readClaim, readClaimResults, verdictOf, writeClaim, writeClaimPages } from "#claims";
import { SearchPath } from "#config";
import { UserError } from "#registry";
import type { Command } from "../command.ts";
import { commandLine } from "../next-commands.ts";
import { deviceOf } from "../option-values.ts";
import { inOwnFolder } from "../own-folder.ts";
import { exitCodeOf } from "../stop-signals.ts";
import { gatherResults } from "./gather.ts";
import { Ledger } from "./ledger.ts";
import { type ClaimPlan, planClaim } from "./plan.ts";
import { planText } from "./plan-text.ts";
import { runParts } from "./run-parts.ts";

const options = {
  "dry-run": { type: "boolean", default: false },
  resume: { type: "boolean", default: false },
  out: { type: "string" },
  table: { type: "string" },
} as const;

const shipped = new SearchPath([fileURLToPath(new URL("../../../examples/claims", import.meta.url))]);

export const claimCommand: Command = {
  options,
  words: () => shipped.options(""),
  usage: "claim FILE [key=value…] [--dry-run] [--resume] [--out DIR], or: claim --table DIR",

  details: `FILE is a name from examples/claims, or a YAML file of your own: docs/claims.md says what it holds. Trains every arm with every seed,
evaluates all of them and what they began from, and writes claim.json (every episode), claim.md (tables) and curves.png to --out.
Exit code 0: done, and the goal is reached; 1: the goal is missed; 2: a part failed.

  key=value         changes a setting of the claim's file: seeds=[0], limits.device=cpu
  --dry-run         prints the plan: every command, what is done already; starts nothing
  --resume          goes on in --out: what is done is left, interrupted trainings continue
  --out DIR         a folder of its own; default claims/<name>
  --table DIR       prints the tables of an earlier claim again, from its claim.json alone, and draws its curves

  reverie claim tabletop_object_grpo --dry-run
  reverie claim --table claims/tabletop_object_grpo`,

  async run(argv) {
    const { values, positionals } = parseArgs({ args: argv, allowPositionals: true, options });
    if (values.table !== undefined) {
      if (positionals.length > 0)
        throw new UserError(`--table takes a folder and nothing else; usage: reverie ${this.usage}`);
      console.log(await writeClaimPages(values.table, readClaimResults(values.table)));
      return;
    }
    const [given, ...overrides] = positionals;
    if (given === undefined || given.includes("="))
      throw new UserError(
        `which claim? usage: reverie ${this.usage}; there are: ${shipped.options("").join(", ")}`,
      );
    const path = claimPath(given);
    const claim = readClaim(path, overrides);
    const name = basename(path).replace(/\.ya?ml$/, "");
    const dryRun = values["dry-run"];
    const out = values.out ?? join("claims", name);
    const plan = await planClaim(claim, { name, out, requireFiles: !dryRun });
    if (dryRun) {
      const ledger = new Ledger(out);
      ledger.requireSame(plan.parts, out);
      console.log(planText(plan, ledger));
      return;
    }
    const again = commandLine(["claim", given, ...overrides, "--resume", "--out", out]);
    await inOwnFolder(out, { what: `claim ${name}`, part: "claim" }, () =>
      answer(plan, values.resume, again),
    );
  },
};

function claimPath(given: string): string {
  if (/\.ya?ml$/.test(given)) {
    if (!existsSync(given)) throw new UserError(`there is no file ${given}`);
    return given;
  }
  const found = shipped.find(given);
  if (!found) throw shipped.missing(given);
  return found.path;
}

async function answer(plan: ClaimPlan, resumes: boolean, again: string): Promise<void> {
  const ledger = new Ledger(plan.out);
  if (!resumes && ledger.holdsAny(plan.parts))
    throw new UserError(
      `${plan.out} already holds parts of this claim; to go on:  ${again}\n  to begin anew:  give another --out`,
    );
  ledger.requireSame(plan.parts, plan.out);
  const { device } = plan.claim.limits;
  if (device !== undefined && plan.parts.some((part) => !ledger.isDone(part, plan.parts))) deviceOf(device);
  const say = (line: string): void => console.log(line);
  const { failed, signal } = await runParts(plan, ledger, say);
  const results = gatherResults(plan, ledger);
  const page = await writeClaim(plan.out, results);
  if (signal) {
    say(`stopped; go on with: ${again}`);
    process.exitCode = exitCodeOf(signal);
    return;
  }
  console.log(`\n${page}`);
  if (failed.length > 0) {
    process.stderr.write(`error: ${failed.join(", ")} failed; the logs say why. Then: ${again}\n`);
    process.exitCode = 2;
  } else if (verdictOf(results).some(({ met }) => !met)) process.exitCode = 1;
}
