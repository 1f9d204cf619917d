/**
 * A checkpoint folder in the layout that OpenVLA models are published in, read and written.
 *
 * config.json, model*.safetensors (one file or shards with an index), preprocessor_config.json,
 * dataset_statistics.json, tokenizer files. What we write, transformers can load.
 */
import { existsSync, mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { openCheckpoint, readJsonFile, readSafetensors, writeJsonFile, writeSafetensors } from "#formats";
import { UserError } from "#registry";
import type { Tensor } from "#tensor";
import { type Companions, readCompanions, writeCompanions } from "../companions.ts";
import { type PrismaticConfig, parsePrismaticConfig } from "./config.ts";
import { type Normalization, parsePreprocessor } from "./images.ts";

const companionNames = [
  "preprocessor_config.json",
  "dataset_statistics.json",
  "tokenizer.json",
  "tokenizer_config.json",
  "tokenizer.model",
  "special_tokens_map.json",
  "added_tokens.json",
  "generation_config.json",
  "processor_config.json",
];

export interface PrismaticFolder {
  readonly path: string;
  readonly config: PrismaticConfig;
  readonly normalization: readonly Normalization[];
  readonly companions: Companions;
  /** Opens the weights: views of the files, to be copied from at once. */
  weights(): Map<string, Tensor>;
}

export function openPrismaticFolder(path: string): PrismaticFolder {
  if (!existsSync(path) || !statSync(path).isDirectory()) {
    throw new UserError(`no checkpoint folder at ${path}; check model_path, or run reverie fetch <repo-id>`);
  }
  const raw = readIfThere(join(path, "config.json"));
  if (raw === undefined) throw new UserError(`${path} has no config.json: it is not a model folder`);
  const statistics = readIfThere(join(path, "dataset_statistics.json"));
  return {
    path,
    config: parsePrismaticConfig(raw, join(path, "config.json"), statistics),
    normalization: parsePreprocessor(readIfThere(join(path, "preprocessor_config.json"))),
    companions: readCompanions(path, companionNames),
    weights: () => readWeights(path),
  };
}

/** Whether its config.json is of such a model. */
export function isPrismaticFolder(path: string): boolean {
  const raw = readIfThere(join(path, "config.json")) as Readonly<Record<string, unknown>> | undefined;
  return raw?.model_type === "openvla" || raw?.model_type === "prismatic";
}

function readWeights(path: string): Map<string, Tensor> {
  const loose = join(path, "weights.safetensors"); // how reference fixtures call it
  return existsSync(loose) ? readSafetensors(loose) : openCheckpoint(path).read();
}

/** JSON of a file that may be absent. */
const readIfThere = (path: string): unknown => (existsSync(path) ? readJsonFile(path) : undefined);

/** Writes weights, the config as it was (with `changes`), and the companions of `from`. */
export function writePrismaticFolder(
  folder: string,
  from: PrismaticFolder,
  weights: ReadonlyMap<string, Tensor>,
  changes: Readonly<Record<string, unknown>> = {},
): void {
  mkdirSync(folder, { recursive: true });
  writeSafetensors(join(folder, "model.safetensors"), weights, { format: "pt" });
  writeJsonFile(join(folder, "config.json"), {
    ...from.config.raw,
    norm_stats: from.config.normStats,
    ...changes,
  });
  writeCompanions(folder, from.companions);
}
