/**
 * What makes a checkpoint trustworthy: a list of its files with sizes and SHA-256 sums, written last.
 *
 * A folder without a manifest was never finished; a file that differs from its line is damaged. Both are told by name.
 */
import { createHash } from "node:crypto";
import {
  closeSync,
  existsSync,
  fsyncSync,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  statSync,
} from "node:fs";
import { basename, join, relative, sep } from "node:path";
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
  const extra = [...found].filter((file) => !Object.hasOwn(manifest.files, file));
  const faults = Object.entries(manifest.files).flatMap(([file, { bytes, sha256 }]) => {
    if (!found.has(file)) return [`${file} is missing`];
    const entry = lstatSync(join(folder, file));
    if (!entry.isFile()) return [`${file} is not a file any more, but a link or something else`];
    const { size } = entry;
    if (size !== bytes) return [`${file} has ${size} bytes, expected ${bytes}`];
    return hashFile(join(folder, file)) === sha256 ? [] : [`${file} has been changed: its SHA-256 differs`];
  });
  const all = [...faults, ...extra.map((file) => `${file} is not in the manifest`)];
  return all.length > 0 ? all : renamed(folder);
}

/** A whole checkpoint that was given another's name would be taken for other steps than it has done. */
function renamed(folder: string): string[] {
  const [, named] = /^global_step_(\d+)$/.exec(basename(folder)) ?? [];
  const path = join(folder, "state.json");
  if (named === undefined || !existsSync(path)) return [];
  const { step } = readJsonFile(path);
  if (typeof step !== "number" || step === Number(named)) return [];
  return [`it holds step ${step}, and its folder was renamed: it is global_step_${step}`];
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
    .filter((entry) => !entry.isDirectory()) // a link or a socket is one too many
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
