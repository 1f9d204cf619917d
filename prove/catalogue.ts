/** Finds the proofs: every file of `prove/proofs/` is one, named as the file is. */
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { nearest, UserError } from "#registry";
import type { Proof } from "./proof.ts";

const folder = new URL("./proofs/", import.meta.url);

/** The names of all proofs, sorted. */
export const proofNames = (): string[] =>
  readdirSync(fileURLToPath(folder))
    .filter((file) => file.endsWith(".ts"))
    .map((file) => file.slice(0, -".ts".length))
    .sort();

/** The proof of that name; a wrong name is answered with the nearest one. */
export async function proofNamed(name: string): Promise<Proof> {
  const names = proofNames();
  if (!names.includes(name)) {
    const guess = nearest(name, names);
    const hint = guess === undefined ? "" : `; did you mean ${guess}?`;
    throw new UserError(`there is no proof named ${name}${hint}\nnpm run prove -- list names them all`);
  }
  const { proof } = (await import(new URL(`${name}.ts`, folder).href)) as { proof: Proof };
  return proof;
}
