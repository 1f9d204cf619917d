/** What some commands need beside the libraries: ffmpeg for videos, LIBERO's files. Both are looked for, not tried. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Fault } from "./libraries.ts";

export interface Extras {
  readonly ffmpeg: { readonly path: string } | Fault;
  readonly libero: { readonly folder: string; readonly files: number };
}

export async function examineExtras(): Promise<Extras | Fault> {
  try {
    const [{ findFfmpeg }, { liberoFolder }] = [await import("#formats"), await import("#simulators")];
    const folder = liberoFolder();
    return { ffmpeg: lookFor(findFfmpeg), libero: { folder, files: preparedFiles(folder) } };
  } catch (error) {
    return { error: (error as Error).message }; // the libraries do not open, which is said elsewhere
  }
}

function lookFor(find: () => string): Extras["ffmpeg"] {
  try {
    return { path: find() };
  } catch (error) {
    return { error: (error as Error).message };
  }
}

/** How many files `reverie fetch libero` has listed; it and every run check them. */
function preparedFiles(folder: string): number {
  const list = join(folder, "manifest.json");
  if (!existsSync(list)) return 0;
  try {
    const { files } = JSON.parse(readFileSync(list, "utf8")) as { files?: object };
    return Object.keys(files ?? {}).length;
  } catch {
    return 0;
  }
}
