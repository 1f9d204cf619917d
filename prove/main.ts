/**
 * `npm run prove -- NAME [--json]` checks one claim of this project; `npm run prove -- list` names them all.
 *
 * Prints what is checked as it goes, the figure last, and exits with 1 when the claim is missed. With --json one
 * object goes to standard output, and what is checked goes to standard error.
 */
import { parseArgs } from "node:util";
import { UserError } from "#registry";
import { proofNamed, proofNames } from "./catalogue.ts";

const usage = "usage: npm run prove -- NAME [--json], or npm run prove -- list";

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { json: { type: "boolean", default: false } },
  });
  const [name, ...extra] = positionals;
  if (name === undefined || extra.length > 0) throw new UserError(usage);
  if (name === "list") return await list(values.json);
  const { claim, goal, run } = await proofNamed(name);
  const say = values.json ? console.error : console.log;
  say(claim);
  const { ok, figure } = await run(say);
  if (values.json) console.log(JSON.stringify({ name, ok, figure, goal }));
  else console.log(`${ok ? "proved" : "MISSED"}: ${figure} (goal: ${goal})`);
  process.exitCode = ok ? 0 : 1;
}

async function list(json: boolean): Promise<void> {
  const rows = [];
  for (const name of proofNames()) {
    const { claim, goal, minutes, needs } = await proofNamed(name);
    rows.push({ name, claim, goal, minutes, needs: needs ?? "nothing" });
  }
  if (json) return console.log(JSON.stringify(rows, null, 2));
  for (const { name, claim, minutes, needs } of rows)
    console.log(`${name.padEnd(20)} ${`${minutes} min`.padEnd(8)} needs ${needs}: ${claim}`);
}

main().catch((error: unknown) => {
  console.error(error instanceof UserError ? error.message : error);
  process.exitCode = error instanceof UserError ? 2 : 1;
});
