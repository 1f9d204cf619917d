/** `list KIND`: names what there is to choose from, for people as a table, for programs as JSON. */
import { parseArgs } from "node:util";
import { nearest, UserError } from "#registry";
import type { Command } from "../command.ts";
import { kinds, type Row } from "./kinds.ts";

const options = { json: { type: "boolean", default: false } } as const;

export const listCommand: Command = {
  usage: `list ${Object.keys(kinds).join("|")} [--json]`,
  details: `  configs           what reverie train, eval and start take; with --json also their files
  suites            benchmarks and their stored starts;  tasks [SUITE]: their tasks
  policies          model_type in actor.model;  algorithms: algorithm.adv_type
  worlds            env_type of learned worlds, and world folders on this machine
  models            policy checkpoints on this machine
  --json            the same as JSON

  reverie list tasks tabletop_object`,
  options,
  words: () => Object.keys(kinds),

  async run(argv) {
    const { values, positionals } = parseArgs({ args: argv, allowPositionals: true, options });
    const [kind = "", ...rest] = positionals;
    const rowsOf = Object.hasOwn(kinds, kind) ? kinds[kind] : undefined;
    if (!rowsOf) throw new UserError(`list what? ${meant(kind)}there are: ${Object.keys(kinds).join(", ")}`);
    if (rest.length > (kind === "tasks" ? 1 : 0))
      throw new UserError(`list ${kind} takes no "${rest.at(-1)}"; usage: reverie ${this.usage}`);
    const rows = await rowsOf(rest[0]);
    console.log(values.json ? JSON.stringify(rows, null, 2) : tableOf(rows));
  },
};

const meant = (kind: string): string => {
  const guess = nearest(kind, Object.keys(kinds));
  return guess ? `did you mean ${guess}? ` : "";
};

/** Columns under their names; a row's last word is not padded. */
export function tableOf(rows: readonly Row[]): string {
  const [first] = rows;
  if (!first) return "there is none";
  const columns = Object.keys(first).filter((column) => column !== "file");
  const texts = [columns, ...rows.map((row) => columns.map((column) => String(row[column] ?? "")))];
  const widths = columns.map((_, i) => Math.max(...texts.map((text) => text[i]!.length)));
  return texts
    .map((text) =>
      text
        .map((word, i) => word.padEnd(widths[i]!))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
