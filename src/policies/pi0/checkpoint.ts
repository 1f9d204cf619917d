/**
 * A checkpoint folder of openpi: where its weights, its statistics and its tokenizer are, read and written.
 *
 * model.safetensors, config.json (which says little), assets/<asset_id>/norm_stats.json. openpi's folders hold no
 * tokenizer: put Gemma's or PaliGemma's tokenizer.json beside the weights, or name its folder in tokenizer_path.
 */
import { existsSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { openCheckpoint, readJsonFile, readSafetensors, writeJsonFile, writeSafetensors } from "#formats";
import { UserError } from "#registry";
import type { Tensor } from "#tensor";
import { type Companions, readCompanions, writeCompanions } from "../companions.ts";
import { type NormStats, parseNormStats } from "./actions.ts";

export interface Pi0Folder {
  readonly path: string;
  /** config.json as it is, if there is one. */
  readonly raw: Readonly<Record<string, unknown>> | undefined;
  readonly companions: Companions;
  /** Opens the weights: views of the files, to be copied from at once. */
  weights(): Map<string, Tensor>;
}

export function openPi0Folder(path: string): Pi0Folder {
  if (!existsSync(path) || !statSync(path).isDirectory()) {
    throw new UserError(`no checkpoint folder at ${path}; check model_path, or run reverie fetch <repo-id>`);
  }
  const config = join(path, "config.json");
  return {
    path,
    raw: existsSync(config) ? readJsonFile(config) : undefined,
    companions: readCompanions(path, companionNames),
    weights: () => readWeights(path),
  };
}

/** openpi's config.json says little; its statistics have a name of their own. */
export function isPi0Folder(path: string): boolean {
  return existsSync(join(path, "model.safetensors")) && findStatistics(path).length > 0;
}

function readWeights(path: string): Map<string, Tensor> {
  const loose = join(path, "weights.safetensors"); // how reference fixtures call it
  return existsSync(loose) ? readSafetensors(loose) : openCheckpoint(path).read();
}

const statisticsFile = "norm_stats.json";

/** In the folder itself, in assets/<asset_id> or in <asset_id>; `given` names another file or folder. */
export function readNormStats(folder: string, assetId: string, given?: string): NormStats {
  const places = given
    ? [given, join(given, statisticsFile)]
    : [[], ["assets", assetId], [assetId]].map((parts) => join(folder, ...parts, statisticsFile));
  const path = places.find((place) => existsSync(place) && statSync(place).isFile());
  if (path !== undefined) return parseNormStats(readJsonFile(path), path);
  const others = findStatistics(folder);
  const hint =
    others.length > 0
      ? `there are statistics in ${others.join(", ")}: set openpi.asset_id or openpi_data.norm_stats_path`
      : "copy the folder assets/ of the checkpoint, or set openpi_data.norm_stats_path";
  throw new UserError(`no ${statisticsFile} at ${places.join(", ")}; ${hint}`);
}

/** Folders below `folder` that hold statistics, at most three levels down. */
function findStatistics(folder: string, depth = 3): string[] {
  const here = existsSync(join(folder, statisticsFile)) ? [folder] : [];
  if (depth === 0) return here;
  const below = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return [...here, ...below.flatMap(({ name }) => findStatistics(join(folder, name), depth - 1))];
}

const companionNames = [
  "tokenizer.json",
  "tokenizer_config.json",
  "tokenizer.model",
  "special_tokens_map.json",
];

export interface Written {
  readonly weights: ReadonlyMap<string, Tensor>;
  /** Notes in the weights' file. */
  readonly metadata: Readonly<Record<string, string>>;
  readonly statistics: NormStats;
  readonly assetId: string;
}

export function writePi0Folder(folder: string, from: Pi0Folder, what: Written): void {
  mkdirSync(folder, { recursive: true });
  writeSafetensors(join(folder, "model.safetensors"), what.weights, { ...what.metadata });
  writeJsonFile(join(folder, "config.json"), { ...from.raw });
  const statistics = join(folder, "assets", what.assetId, statisticsFile);
  mkdirSync(dirname(statistics), { recursive: true });
  writeJsonFile(statistics, what.statistics);
  writeCompanions(folder, from.companions);
}
