/**
 * `parity policies DIR`: our policies against numbers recorded from the reference implementations.
 *
 * DIR is one case (a folder with inputs.json, inputs.safetensors and outputs.safetensors), or a folder of cases. Sizes
 * are read from each case's own files; nothing about the given cases is assumed.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { UserError } from "#registry";
import { allowTf32 } from "#tensor";
import { Comparison, type ParityCase, type ParityOptions } from "./policies/comparison.ts";
import { runPi0 } from "./policies/pi0.ts";
import { isPi0Case } from "./policies/pi0-case.ts";
import { runPrismatic } from "./policies/prismatic.ts";
import { compareTokenizers } from "./policies/tokenizers.ts";

export type { ParityCase };

const isCase = (folder: string): boolean => existsSync(join(folder, "inputs.json"));

export async function run(dir: string, options: ParityOptions = {}): Promise<ParityCase[]> {
  allowTf32(false); // convolutions on a GPU would use it otherwise
  const folders = isCase(dir)
    ? [dir]
    : readdirSync(dir, { withFileTypes: true })
        .filter((entry) => entry.isDirectory() && isCase(join(dir, entry.name)))
        .map((entry) => join(dir, entry.name))
        .sort();
  if (folders.length === 0) throw new UserError(`${dir} has no case: no folder in it holds an inputs.json`);
  const cases: ParityCase[] = compareTokenizers(dir);
  for (const folder of folders) cases.push(...(await runCase(folder, options)));
  return cases;
}

async function runCase(folder: string, options: ParityOptions): Promise<ParityCase[]> {
  const comparison = new Comparison(basename(folder), options);
  const { variant } = JSON.parse(readFileSync(join(folder, "inputs.json"), "utf8")) as { variant?: string };
  try {
    await familyOf(variant, folder)(folder, comparison);
  } catch (error) {
    comparison.failed((error as Error).message);
  }
  return comparison.cases;
}

type Runner = (folder: string, comparison: Comparison) => Promise<void>;

function familyOf(variant: string | undefined, folder: string): Runner {
  if (variant !== undefined && /^(rlinf|official|openvla)/.test(variant)) return runPrismatic;
  if (isPi0Case(folder)) return runPi0;
  throw new UserError(`${folder}: inputs.json describes variant "${variant}", which no runner here knows`);
}
