/** What a Wan world of ours says of itself: the sizes of both networks, each written by its own training. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type JsonObject, readJsonFile, writeJsonFile } from "#formats";
import { wanFiles } from "./files.ts";

export function readWanDescription(world: string): JsonObject {
  const path = join(world, wanFiles.description);
  return existsSync(path) ? readJsonFile(path) : {};
}

/** Adds these to what is there. */
export const writeWanDescription = (world: string, sizes: object): void =>
  writeJsonFile(join(world, wanFiles.description), { ...readWanDescription(world), ...sizes });
