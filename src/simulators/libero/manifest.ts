/**
 * The list of prepared files with their checksums.
 *
 * Preparation writes it; use checks against it, once per file and process, so that a file that was cut short or replaced
 * is named before it changes a result.
 */
import { createHash } from "node:crypto";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { z } from "zod";
import { writeJsonFile } from "#formats";
import { UserError } from "#registry";

const entry = z.strictObject({ bytes: z.number().int(), sha256: z.string(), source: z.string() });
const schema = z.strictObject({ version: z.literal(1), files: z.record(z.string(), entry) });

export type ManifestEntry = z.infer<typeof entry>;

export const manifestPath = (folder: string): string => join(folder, "manifest.json");

/** File (relative, with forward slashes) to what it should be; empty where nothing is prepared. */
export function readManifest(folder: string): Map<string, ManifestEntry> {
  const path = manifestPath(folder);
  if (!existsSync(path)) return new Map();
  try {
    return new Map(Object.entries(schema.parse(JSON.parse(readFileSync(path, "utf8"))).files));
  } catch {
    throw new UserError(`${path} is damaged; remove it and run \`reverie fetch libero\` again`);
  }
}

export function writeManifest(folder: string, files: ReadonlyMap<string, ManifestEntry>): void {
  const sorted = [...files].sort(([a], [b]) => (a < b ? -1 : 1));
  writeJsonFile(manifestPath(folder), { version: 1, files: Object.fromEntries(sorted) });
}

export const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** Whether the file on disk is the one in the manifest. */
export function isIntact(folder: string, file: string, expected: ManifestEntry): boolean {
  const path = join(folder, file);
  if (!existsSync(path) || statSync(path).size !== expected.bytes) return false;
  return sha256(readFileSync(path)) === expected.sha256;
}

/** A check of one file against the manifest, remembering what it has seen. */
export function fileChecker(folder: string): (path: string) => void {
  let files: Map<string, ManifestEntry> | undefined;
  const checked = new Set<string>();
  return (path) => {
    if (checked.has(path)) return;
    files ??= readManifest(folder);
    const file = relative(folder, path).split(sep).join("/");
    const expected = files.get(file);
    if (expected && !isIntact(folder, file, expected))
      throw new UserError(
        `LIBERO's ${file} in ${folder} is missing or not the file that was prepared; run \`reverie fetch libero\` to mend it`,
      );
    checked.add(path);
  };
}
