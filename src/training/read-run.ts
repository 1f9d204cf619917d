/**
 * Reads and checks a run's configuration for this machine, and plans it: all that happens before anything
 * starts.
 */
import { type CheckedConfig, type Plan, planRun, planText, readConfig } from "#config";
import { inheritPlugins } from "#registry";
import { deviceCount } from "#tensor";
import { families } from "./families.ts";
import { whereToGet } from "./published.ts";

export interface ReadRunOptions {
  readonly overrides?: readonly string[];
  readonly configPath?: string;
  /** Refuse when a checkpoint or a dataset is missing; a plan only warns. */
  readonly requireFiles?: boolean;
}

export async function readRun(given: string, options: ReadRunOptions = {}): Promise<CheckedConfig> {
  await inheritPlugins();
  return readConfig(given, { ...options, families, whereToGet, devices: deviceCount() });
}

/** What `reverie train CONFIG --dry-run` prints. */
export async function dryRun(
  given: string,
  options: ReadRunOptions = {},
): Promise<{ plan: Plan; text: string }> {
  const plan = planRun(await readRun(given, options));
  return { plan, text: planText(plan) };
}
