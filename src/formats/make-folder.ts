/**
 * Makes a folder for results, with its parents, and says in words why it cannot.
 *
 * Node's recursive mkdir never returns where the system answers "no such file" inside a folder that exists, as /proc does. So parents
 * are made one by one.
 */
import { mkdirSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { UserError } from "#registry";
import { describeSystemError } from "./file-fault.ts";

export function makeFolder(path: string): string {
  const missing: string[] = [];
  let at = resolve(path);
  for (let found = kindOf(at); found !== "folder"; found = kindOf(at)) {
    if (found === "file") throw new UserError(`${path} cannot be a folder: ${at} is a file; write elsewhere`);
    missing.unshift(at);
    at = dirname(at);
  }
  for (const folder of missing) makeOne(path, folder);
  return path;
}

function kindOf(path: string): "folder" | "file" | undefined {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found) return found.isDirectory() ? "folder" : "file";
    return undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOTDIR") return undefined; // a parent is the file
    throw cannotMake(path, error);
  }
}

function makeOne(wanted: string, folder: string): void {
  try {
    mkdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST" || kindOf(folder) !== "folder")
      throw cannotMake(wanted, error);
  }
}

function cannotMake(path: string, error: unknown): UserError {
  const code = (error as NodeJS.ErrnoException).code;
  const reason = code === "ENOENT" ? "this file system takes no new folders" : describeSystemError(error);
  return new UserError(`the folder ${path} cannot be made: ${reason}; write elsewhere`);
}
