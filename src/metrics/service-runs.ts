/**
 * Which run at W&B and SwanLab a folder belongs to, so that a resumed run goes on there and does not begin a second one.
 *
 * Kept beside the metrics as `services.json`. A run that begins at step 0 is a new one, whatever the folder held before.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { readJsonFile, writeJsonFile } from "#formats";
import { UserError } from "#registry";
import type { Service } from "./side-logger.ts";

const schema = z.strictObject({
  format: z.literal(1),
  /** The services' own ids. */
  runs: z.partialRecord(z.enum(["wandb", "swanlab"]), z.string().regex(/^[\w-]{1,128}$/)),
});

const fileOf = (folder: string): string => join(folder, "services.json");

/** The id to go on with; undefined where there is none, or its file cannot be read. */
export function knownRun(folder: string, service: Service, warn: (text: string) => void): string | undefined {
  if (!existsSync(fileOf(folder))) return undefined;
  try {
    return readRuns(folder)[service];
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    warn(`${error.message}; ${service} begins a new run`);
    return undefined;
  }
}

export function rememberRun(folder: string, service: Service, id: string): void {
  const others = existsSync(fileOf(folder)) ? withoutThrowing(() => readRuns(folder)) : {};
  writeJsonFile(fileOf(folder), { format: 1, runs: { ...others, [service]: id } });
}

function readRuns(folder: string): z.infer<typeof schema>["runs"] {
  const parsed = schema.safeParse(readJsonFile(fileOf(folder)));
  if (parsed.success) return parsed.data.runs;
  throw new UserError(`${fileOf(folder)} does not name runs of services: ${z.prettifyError(parsed.error)}`);
}

/** A damaged file is written anew. */
function withoutThrowing<T extends object>(read: () => T): T | Record<string, never> {
  try {
    return read();
  } catch (error) {
    if (error instanceof UserError) return {};
    throw error;
  }
}
