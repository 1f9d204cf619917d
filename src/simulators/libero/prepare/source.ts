/** Where LIBERO's files come from. Each source serves the files of one top folder of the prepared tree. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { openZip } from "#formats";

export interface AssetSource {
  /** Shown to the user and kept in the manifest. */
  readonly label: string;
  /** The file's bytes, or undefined where the source does not have it. */
  read(file: string): Promise<Uint8Array | undefined>;
}

/** Files inside a wheel, below `prefix`. */
export function wheelSource(path: string, label: string, prefix: string): AssetSource {
  const archive = openZip(path);
  return {
    label,
    async read(file) {
      const member = prefix + file;
      return archive.names.has(member) ? archive.read(member) : undefined;
    },
  };
}

export function folderSource(folder: string, label: string): AssetSource {
  return {
    label,
    async read(file) {
      const path = join(folder, file);
      return existsSync(path) && statSync(path).isFile() ? readFileSync(path) : undefined;
    },
  };
}
