/** Folders that a command has for itself while it writes: two commands that were started together do not mix their results. */
import { readdirSync } from "node:fs";
import { resolve } from "node:path";
import { UserError } from "#registry";
import { holdFolder } from "#training";

/** Of a lock that is held or being taken. */
const lockFile = /^\.\.?run\.lock/;

/** Makes the folder and runs `body` with it locked. `part` locks a part of it by itself. */
export async function inOwnFolder<T>(
  path: string,
  { what, part }: { readonly what: string; readonly part?: string },
  body: (folder: string) => Promise<T>,
): Promise<T> {
  const folder = resolve(path);
  const lock = holdFolder(folder, what, part);
  try {
    return await body(folder);
  } finally {
    lock?.release();
  }
}

/** The same for a folder that holds nothing yet. */
export const inEmptyFolder = <T>(
  path: string,
  what: string,
  body: (folder: string) => Promise<T>,
): Promise<T> =>
  inOwnFolder(path, { what }, (folder) => {
    if (readdirSync(folder).some((name) => !lockFile.test(name)))
      throw new UserError(`${path} is not empty; give another --out or remove it`);
    return body(folder);
  });
