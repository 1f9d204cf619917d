/** A local copy of LIBERO's objects and scenes: a folder, or an archive that `tar` can read. */
import { existsSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { UserError } from "#registry";
import { run } from "./pip.ts";
import { type AssetSource, folderSource } from "./source.ts";

/** Found in every complete copy, so it tells which folder is the top. */
const landmark = "scenes/libero_tabletop_base_style.xml";
const deepestTop = 4;

/** @param scratch an empty folder to unpack an archive into. */
export async function localSource(path: string, scratch: string): Promise<AssetSource> {
  if (!existsSync(path)) throw new UserError(`--from ${path}: there is no such folder or archive`);
  const folder = statSync(path).isDirectory() ? path : await unpack(path, scratch);
  const top = findTop(folder, 0);
  if (top === undefined)
    throw new UserError(`--from ${path}: expected LIBERO's assets, with ${landmark} inside; it is not there`);
  return folderSource(top, basename(path));
}

async function unpack(archive: string, scratch: string): Promise<string> {
  mkdirSync(scratch, { recursive: true });
  const { code, output } = await run("tar", ["-xf", archive, "-C", scratch, "--no-same-owner"]);
  if (code === 0) return scratch;
  throw new UserError(`--from ${archive}: tar cannot unpack it:\n${output.trim()}`);
}

function findTop(folder: string, depth: number): string | undefined {
  if (existsSync(join(folder, landmark))) return folder;
  if (depth === deepestTop) return undefined;
  const inner = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  for (const { name } of inner) {
    const found = findTop(join(folder, name), depth + 1);
    if (found) return found;
  }
  return undefined;
}
