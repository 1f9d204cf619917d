/**
 * A key that is equal for two models exactly when compiling them would give the same result.
 *
 * It covers the XML text, assets given in memory, and the files on disk that the text names. Files count by
 * path, size and time of change: hashing a hundred megabytes of meshes would cost more than it saves.
 */
import { createHash, type Hash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";

export type Assets = Readonly<Record<string, Uint8Array>>;

/** `folder` is where relative file names in `xml` start; undefined when the text has no place on disk. */
export function modelFingerprint(xml: string, assets: Assets, folder: string | undefined): string {
  const hash = createHash("sha256");
  addText(hash, xml, folder ?? ".", new Set());
  for (const name of Object.keys(assets).sort()) hash.update(`\0${name}\0`).update(assets[name]!);
  return hash.digest("hex");
}

function addText(hash: Hash, xml: string, folder: string, seen: Set<string>): void {
  hash.update(xml);
  const folders = [".", ...attribute(xml, "(?:mesh|texture|asset)dir")].map((name) => resolve(folder, name));
  const included = new Set(
    [...xml.matchAll(/<include\b[^>]*\bfile\s*=\s*["']([^"']+)["']/g)].map((m) => m[1]!),
  );
  for (const name of attribute(xml, "file(?:right|left|up|down|front|back)?")) {
    for (const place of folders) addFile(hash, resolve(place, name), included.has(name), seen);
  }
}

function addFile(hash: Hash, path: string, isText: boolean, seen: Set<string>): void {
  if (seen.has(path)) return;
  seen.add(path);
  const stat = statSync(path, { throwIfNoEntry: false, bigint: true });
  if (!stat?.isFile()) return; // in memory, or missing: MuJoCo will say so
  hash.update(`\0${path}\0${stat.size}\0${stat.mtimeNs}`);
  if (isText) addText(hash, readFileSync(path, "utf8"), dirname(path), seen);
}

function attribute(xml: string, pattern: string): string[] {
  return [...xml.matchAll(new RegExp(`\\b${pattern}\\s*=\\s*["']([^"']+)["']`, "g"))].map(
    (match) => match[1]!,
  );
}
