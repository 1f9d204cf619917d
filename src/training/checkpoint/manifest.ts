/**
 * What makes a checkpoint trustworthy: a list of its files with sizes and SHA-256 sums, written last.
 *
 * A folder without a manifest was never finished; a file that differs from its line is damaged. Both are told by name.
 */
import { createHash } from "node:crypto";
import { closeSync, existsSync, fsyncSync, openSync, readdirSync, readSync, statSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { z } from "zod";
import { flushFolder, readJsonFile, writeJsonFile } from "#formats";
import { UserError } from "#registry";

export const manifestName = "manifest.json";

const manifestSchema = z.strictObject({
  format: z.literal(1),
  files: z.record(z.string(), z.strictObject({ bytes: z.int().min(0), sha256: z.string().length(64) })),
});
export type Manifest = z.infer<typeof manifestSchema>;

/** Hashes and flushes every file below the folder, then writes the manifest. */
export function sealFolder(folder: string): Manifest {
  const files = Object.fromEntries(
    listFiles(folder).map((path) => {
      const file = join(folder, path);
      flushFile(file);
      return [path.split(sep).join("/"), { bytes: statSync(file).size, sha256: hashFile(file) }];
    }),
  );
  const manifest: Manifest = { format: 1, files };
  for (const inner of listFolders(folder)) flushFolder(inner);
  writeJsonFile(join(folder, manifestName), manifest);
  return manifest;
}

/** Everything that is wrong with a checkpoint, in words; empty when it is whole. */
export function findDamage(folder: string): string[] {
  const path = join(folder, manifestName);
  if (!existsSync(path))
    return [`${manifestName} is missing: the checkpoint was never finished, or is not one`];
  const manifest = readManifest(path);
  if (typeof manifest === "string") return [manifest];
  const found = new Set(listFiles(folder).map((file) => file.split(sep).join("/")));
  const extra = [...found].filter((file) => !(file in manifest.files));
  const faults = Object.entries(manifest.files).flatMap(([file, { bytes, sha256 }]) => {
    if (!found.has(file)) return [`${file} is missing`];
    const { size } = statSync(join(folder, file));
    if (size !== bytes) return [`${file} has ${size} bytes, expected ${bytes}`];
    return hashFile(join(folder, file)) === sha256 ? [] : [`${file} has been changed: its SHA-256 differs`];
  });
  return [...faults, ...extra.map((file) => `${file} is not in the manifest`)];
}

function readManifest(path: string): Manifest | string {
  try {
    const parsed = manifestSchema.safeParse(readJsonFile(path));
    return parsed.success
      ? parsed.data
      : `${manifestName} is not a manifest: ${z.prettifyError(parsed.error)}`;
  } catch (error) {
    if (error instanceof UserError) return error.message;
    throw error;
  }
}

function listFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .filter((path) => path !== manifestName)
    .sort();
}

function listFolders(folder: string): string[] {
  const inner = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name));
  return [...inner, folder];
}

function flushFile(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function hashFile(path: string): string {
  const hash = createHash("sha256");
  const buffer = Buffer.allocUnsafe(1 << 20);
  const descriptor = openSync(path, "r");
  try {
    for (;;) {
      const count = readSync(descriptor, buffer, 0, buffer.length, null);
      if (count === 0) return hash.digest("hex");
      hash.update(buffer.subarray(0, count));
    }
  } finally {
    closeSync(descriptor);
  }
}
