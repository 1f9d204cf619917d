/**
 * What a fetched folder says about itself: from which commit of which repository its files are, with their hashes.
 *
 * The hashes let a copy of the folder be checked on a machine without network.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { UserError } from "#registry";

export const sourceFile = "reverie-source.json";

const source = z.object({
  repository: z.string(),
  kind: z.enum(["model", "dataset"]),
  /** Of the repository; absent where a copied folder does not know it. */
  commit: z.string().optional(),
  files: z.record(
    z.string(),
    z.object({ size: z.int().min(0), sha256: z.string().optional(), gitSha1: z.string().optional() }),
  ),
});

export type Source = z.infer<typeof source>;

/** Undefined where a folder says nothing. */
export function readSource(folder: string): Source | undefined {
  const path = join(folder, sourceFile);
  if (!existsSync(path)) return undefined;
  try {
    return source.parse(JSON.parse(readFileSync(path, "utf8")));
  } catch {
    throw new UserError(`${path} is damaged; remove it and run the command again`);
  }
}

export function writeSource(folder: string, content: Source): void {
  writeFileSync(join(folder, sourceFile), `${JSON.stringify(content, null, 2)}\n`);
}
