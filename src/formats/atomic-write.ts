/**
 * Files that are either the old one or the whole new one, whatever happens in between.
 *
 * Written beside the target under a temporary name, flushed to the disk, renamed over it, and the folder
 * flushed too, so that the rename itself survives a power cut.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { UserError } from "#registry";
import { describeSystemError } from "./file-fault.ts";

let serial = 0;

/** A name in the target's folder that no other writer uses; hidden, so that no reader picks it up. */
export const temporaryName = (path: string): string =>
  join(dirname(path), `.${basename(path)}.${process.pid}.${Date.now().toString(36)}${serial++}.tmp`);

const temporary = /^\..+\.(\d+)\.[0-9a-z]+\.tmp$/;

/** Removes what writers below a folder left half-made: those that are no more, and `own` where this process is about to end. */
export function sweepTemporaries(folder: string, own?: number): void {
  if (!existsSync(folder)) return;
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const [, pid] = entry.isFile() ? (temporary.exec(entry.name) ?? []) : [];
    if (pid === undefined || (Number(pid) !== own && existsSync(`/proc/${pid}`))) continue;
    rmSync(join(entry.parentPath, entry.name), { force: true });
  }
}

export function replaceFile(path: string, pieces: Iterable<Uint8Array>): void {
  const temporary = temporaryName(path);
  try {
    mkdirSync(dirname(path), { recursive: true });
    writePieces(temporary, pieces);
    renameSync(temporary, path);
    flushFolder(dirname(path));
  } catch (error) {
    if (existsSync(temporary)) rmSync(temporary);
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    throw new UserError(`could not write ${path}: ${describeSystemError(error)}`);
  }
}

function writePieces(path: string, pieces: Iterable<Uint8Array>): void {
  const descriptor = openSync(path, "wx");
  try {
    for (const piece of pieces) {
      for (let done = 0; done < piece.byteLength; ) {
        done += writeSync(descriptor, piece, done, Math.min(piece.byteLength - done, 2 ** 30));
      }
    }
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

export function flushFolder(folder: string): void {
  const descriptor = openSync(folder, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
