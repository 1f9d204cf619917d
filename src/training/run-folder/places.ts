/** Where the things of a run lie below `runner.logger.log_path`. */
import { join } from "node:path";
import type { CheckedConfig } from "#config";
import type { RunPlaces } from "./abandoned.ts";

export function placesOf({ config }: CheckedConfig): RunPlaces {
  const { log_path: folder, experiment_name: experiment } = config.runner.logger;
  return {
    folder,
    checkpoints: join(folder, experiment, "checkpoints"),
    evolution: join(folder, experiment, "co-evolution"),
  };
}

export const checkpointRoot = (checked: CheckedConfig): string => placesOf(checked).checkpoints;
