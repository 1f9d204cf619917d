/** `run.json`: which run a folder holds, and the lineage that its present checkpoints belong to. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { readJsonFile, writeJsonFile } from "#formats";
import { UserError } from "#registry";
import { lineageSchema } from "../checkpoint/lineage.ts";

const schema = z.strictObject({
  format: z.literal(1),
  config: z.string(),
  experiment: z.string(),
  lineage: lineageSchema,
  /** The checkpoint of another folder that the run began from. */
  began_from: z.string().optional(),
  /** Files of code that took part, by the command line or by the configuration. */
  plugins: z.array(z.strictObject({ path: z.string(), sha256: z.string() })).optional(),
});
export type RunFile = z.infer<typeof schema>;

export const runFilePath = (folder: string): string => join(folder, "run.json");

export function readRunFile(folder: string): RunFile | undefined {
  const path = runFilePath(folder);
  if (!existsSync(path)) return undefined;
  const parsed = schema.safeParse(readJsonFile(path));
  if (parsed.success) return parsed.data;
  throw new UserError(
    `${path} does not say which run this is: ${z.prettifyError(parsed.error)}\nremove it, and the newest checkpoint will say`,
  );
}

export function writeRunFile(folder: string, file: RunFile): void {
  writeJsonFile(runFilePath(folder), file);
}
