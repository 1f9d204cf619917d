/**
 * Gives one file to one reader, as a process of its own: `offer-file.ts KIND PATH`.
 *
 * Ends as the command line does: with 2 and the reason where the file is refused, with 1 where something else went wrong.
 */

import { readJsonFile, readNpy, readNpz, readPng, readSafetensors, readTorchState } from "#formats";
import { openDemonstrations } from "#recordings";
import { ownEntry, UserError } from "#registry";
import { readTokenizer } from "../src/policies/prismatic/tokenizer.ts";

const readers: Readonly<Record<string, (path: string) => unknown>> = {
  pth: readTorchState,
  npy: readNpy,
  npz: readNpz,
  png: readPng,
  json: readJsonFile,
  safetensors: (path) => readSafetensors(path),
  demonstrations: openDemonstrations,
  tokenizer: (folder) => readTokenizer(folder).encode(`put the ${"a".repeat(60)}! cube in the tray`),
};

const [kind = "", path = ""] = process.argv.slice(2);
const read = ownEntry(readers, kind);
if (!read) throw new Error(`no reader for ${kind}; there are: ${Object.keys(readers).join(", ")}`);
try {
  read(path);
  console.log("read");
} catch (error) {
  if (!(error instanceof UserError)) throw error;
  console.error(`error: ${error.message}`);
  process.exitCode = 2;
}
