/**
 * Finds the ffmpeg program that makes our videos.
 *
 * In this order: REVERIE_FFMPEG, the one that set-up fetched into `.deps` (from the imageio-ffmpeg wheel), the
 * one on the PATH.
 */
import { accessSync, constants, existsSync, readdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import { setUpFolder, UserError } from "#registry";

const library = join(setUpFolder(), ".deps", "venv", "lib");

export function findFfmpeg(): string {
  const chosen = process.env.REVERIE_FFMPEG;
  if (chosen && !isProgram(chosen))
    throw new UserError(`REVERIE_FFMPEG is ${chosen}, which is not a program`);
  const found = chosen || fetchedFfmpeg() || ffmpegOnPath();
  if (found) return found;
  throw new UserError(
    "videos need ffmpeg, and none was found; run `node scripts/setup.mjs`, install ffmpeg, or set REVERIE_FFMPEG to its path",
  );
}

function fetchedFfmpeg(): string | undefined {
  for (const python of existsSync(library) ? readdirSync(library) : []) {
    const folder = join(library, python, "site-packages/imageio_ffmpeg/binaries");
    const name = existsSync(folder)
      ? readdirSync(folder).find((file) => file.startsWith("ffmpeg-"))
      : undefined;
    if (name) return join(folder, name);
  }
  return undefined;
}

const ffmpegOnPath = (): string | undefined =>
  (process.env.PATH ?? "")
    .split(delimiter)
    .map((folder) => join(folder, "ffmpeg"))
    .find(isProgram);

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
