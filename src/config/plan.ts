/**
 * The plan of a run: what `--dry-run` shows and what the launcher follows. Pure: it starts nothing and opens
 * nothing.
 */
import { type BatchPlan, planBatch } from "./batch.ts";
import {
  type DeviceMemory,
  type DiskPlan,
  deviceMemory,
  diskPlan,
  type Footprints,
  processMemory,
} from "./memory.ts";
import type { Placement } from "./placement.ts";
import type { CheckedConfig } from "./read-config.ts";

/** How the three components share accelerators. */
export type PlacementMode = "shared" | "hybrid" | "separated";

export interface Plan {
  readonly checked: CheckedConfig;
  readonly mode: PlacementMode;
  readonly batch: BatchPlan;
  readonly memory: readonly DeviceMemory[];
  readonly disk: DiskPlan;
  readonly memoryBasis: string; // what the prediction rests on
}

export function planRun(checked: CheckedConfig): Plan {
  const { config, ranks, placement, families } = checked;
  const batch = planBatch(config, ranks);
  const feet: Footprints = {
    policy: families.policy?.footprint?.(config.actor.model),
    env: families.train?.footprint?.(config.env.train),
  };
  const parts = processMemory(config, batch, ranks, feet);
  const notes = [feet.policy?.note, feet.env?.note].filter((note) => note !== undefined);
  return {
    checked,
    mode: placementMode(placement),
    batch,
    memory: feet.policy ? deviceMemory(config, placement, parts) : [],
    disk: diskPlan(config, batch, feet.policy),
    memoryBasis: feet.policy
      ? notes.join("; ") || "parameter counts and shapes"
      : "unknown: the policy does not say how large it is",
  };
}

export function placementMode(placement: Placement): PlacementMode {
  const devices = (name: string) =>
    new Set((placement.get(name) ?? []).flatMap((process) => process.devices));
  const sets = ["env", "rollout", "actor"].map(devices);
  const all = new Set(sets.flatMap((set) => [...set]));
  if (sets.every((set) => set.size === all.size)) return "shared";
  return sets.reduce((sum, set) => sum + set.size, 0) === all.size ? "separated" : "hybrid";
}
