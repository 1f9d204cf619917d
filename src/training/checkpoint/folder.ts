/**
 * The checkpoints of a run on disk: written whole or not at all, kept as long as asked, found again after a crash.
 *
 * A checkpoint is made in a hidden folder, hashed, flushed to the disk and renamed; then `latest` points at it. So whenever the
 * machine stops, every visible `global_step_N` is whole, and what is left of an unfinished one is removed at the next save.
 */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { flushFolder } from "#formats";
import { manifestName, sealFolder } from "./manifest.ts";

export interface Saved {
  readonly folder: string;
  readonly step: number; // training steps done
}

const pattern = /^global_step_(\d+)$/;
const hidden = /^\.((global_)?step_\d+|latest|best)\..*\.tmp$/;
const latestName = "latest";
const bestName = "best";

/** Writes `global_step_<step>` with whatever `fill` puts into the folder it is given. */
export async function writeCheckpoint(
  root: string,
  step: number,
  fill: (folder: string) => Promise<void>,
): Promise<Saved> {
  const folder = join(root, `global_step_${step}`);
  await writeFolder(folder, async (temporary) => {
    await fill(temporary);
    sealFolder(temporary);
  });
  point(root, latestName, folder);
  return { folder, step };
}

/** A folder that appears whole, and takes the place of the one before. What `fill` writes into it must be flushed. */
export async function writeFolder(folder: string, fill: (folder: string) => Promise<void>): Promise<void> {
  const root = dirname(folder);
  mkdirSync(root, { recursive: true });
  sweep(root);
  const temporary = join(root, `.${basename(folder)}.${process.pid}.tmp`);
  mkdirSync(temporary);
  try {
    await fill(temporary);
    replaceFolder(temporary, folder);
  } catch (error) {
    rmSync(temporary, { recursive: true, force: true });
    throw error;
  }
  flushFolder(root);
}

/** All finished checkpoints, oldest first. */
export function listCheckpoints(root: string): Saved[] {
  if (!existsSync(root)) return [];
  return readdirSync(root)
    .flatMap((name) => {
      const [, step] = pattern.exec(name) ?? [];
      return step === undefined ? [] : [{ folder: join(root, name), step: Number(step) }];
    })
    .sort((a, b) => a.step - b.step);
}

/** The name of the checkpoint that was written last. */
export const latestOf = (root: string): string | undefined => pointedAt(root, latestName);

/** When a checkpoint was finished, in milliseconds; 0 for one that was not. */
export const writtenAt = ({ folder }: Saved): number =>
  statSync(join(folder, manifestName), { throwIfNoEntry: false })?.mtimeMs ?? 0;

/** After later ones were taken away. */
export function pointLatest(root: string, folder: string): void {
  point(root, latestName, folder);
}

/** Names the best checkpoint so far; it is then kept whatever its age. */
export function markBest(root: string, { folder }: Saved): void {
  point(root, bestName, folder);
}

/** Removes the oldest until `count` are left; 0 keeps all. Those that `latest` and `best` name always stay. */
export function keepNewest(root: string, count: number): void {
  if (count === 0) return;
  const named = [latestName, bestName].map((name) => pointedAt(root, name));
  const old = listCheckpoints(root).slice(0, -count);
  for (const { folder } of old) {
    if (named.includes(basename(folder))) continue;
    const doomed = join(root, `.${basename(folder)}.${process.pid}.old.tmp`);
    renameSync(folder, doomed); // at once invisible, however long removing it takes
    rmSync(doomed, { recursive: true, force: true });
  }
}

function pointedAt(root: string, name: string): string | undefined {
  try {
    return readlinkSync(join(root, name));
  } catch {
    return undefined;
  }
}

function point(root: string, name: string, folder: string): void {
  const temporary = join(root, `.${name}.${process.pid}.tmp`);
  rmSync(temporary, { force: true });
  symlinkSync(basename(folder), temporary);
  renameSync(temporary, join(root, name));
  flushFolder(root);
}

/** A step that is done again replaces what it left the first time. */
function replaceFolder(from: string, to: string): void {
  if (!existsSync(to)) {
    renameSync(from, to);
    return;
  }
  const old = `${join(to, "..", `.${basename(to)}`)}.${process.pid}.old.tmp`;
  renameSync(to, old);
  renameSync(from, to);
  rmSync(old, { recursive: true, force: true });
}

/** What earlier, interrupted writers left. */
function sweep(root: string): void {
  for (const name of readdirSync(root)) {
    if (hidden.test(name)) rmSync(join(root, name), { recursive: true, force: true });
  }
}
