/** `world make RECIPE`: a whole world from a file that says how: recorded, trained part by part, measured; what is done is skipped. */
import { existsSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { UserError } from "#registry";
import { folderKeyOf } from "#worlds";
import type { Subcommand } from "../../command.ts";
import { deviceOf } from "../../option-values.ts";
import { inOwnFolder } from "../../own-folder.ts";
import { MakeJournal } from "./journal.ts";
import { type RecipePart, recipeParts } from "./parts.ts";
import { planText, stateOf } from "./plan-text.ts";
import { readWorldRecipe, type WorldRecipe } from "./recipe.ts";

const usage = "world make RECIPE [KEY=VALUE…] [--dry-run] [--resume]";
const shipped = fileURLToPath(new URL("../../../../examples/worlds", import.meta.url));

const options = {
  "dry-run": { type: "boolean", default: false },
  resume: { type: "boolean", default: false },
} as const;

const shippedNames = (): string[] =>
  readdirSync(shipped).flatMap((name) => (name.endsWith(".yaml") ? [name.slice(0, -5)] : []));

export const makeSubcommand: Subcommand = {
  summary: "all of it from a recipe: records, trains every part, measures",
  usage,
  details: `  RECIPE            a file, or one of examples/worlds: ${shippedNames().join(", ")}
  KEY=VALUE         changes a setting of the recipe: out=DIR policy=DIR denoiser.steps=100 '~more'
  --dry-run         says what would be made, what is done, and how long the rest may take
  --resume          goes on with a world that was begun in the same folder`,
  options,
  words: shippedNames,
};

export async function makeWorld(argv: string[]): Promise<void> {
  const { values, positionals } = parseArgs({ args: argv, options, allowPositionals: true });
  const [name, ...overrides] = positionals;
  if (name === undefined) throw new UserError(`which recipe? usage: reverie ${usage}`);
  const recipe = await readWorldRecipe(fileOf(name), overrides);
  const parts = recipeParts(recipe);
  if (values["dry-run"]) return console.log(planText(recipe, parts, new MakeJournal(recipe.out)));
  deviceOf(recipe.device); // before anything is recorded
  await inOwnFolder(recipe.out, { what: "reverie world make" }, async () => {
    const journal = new MakeJournal(recipe.out);
    if (!journal.isEmpty && !values.resume)
      throw new UserError(
        `a world was begun in ${recipe.out}: go on with it by --resume, or give another folder: out=DIR`,
      );
    console.log(planText(recipe, parts, journal));
    if (await makeParts(parts, journal)) console.log(useText(recipe));
  });
}

function fileOf(name: string): string {
  const own = join(shipped, `${name}.yaml`);
  return !existsSync(name) && existsSync(own) ? relative(process.cwd(), own) : name;
}

/** Whether all of them are made; one that was stopped ends the work, and goes on by --resume. */
async function makeParts(parts: readonly RecipePart[], journal: MakeJournal): Promise<boolean> {
  for (const part of parts) {
    const state = stateOf(part, journal);
    if (state === "done" || state === "left out") continue;
    console.log(`\n== ${part.name}: ${part.about}`);
    const begun = journal.state(part.name) !== undefined;
    journal.begin(part.name, part.settings);
    if (!(await part.make(begun))) return false;
    journal.finish(part.name, part.settings);
  }
  return true;
}

function useText({ family, out }: WorldRecipe): string {
  const world = join(out, "world");
  return `\nthe world is in ${world}, its reports in ${join(out, "report")}; use it with env.train.${folderKeyOf(family)}=${world}`;
}
