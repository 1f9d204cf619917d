/**
 * The statistics that a new policy normalizes its actions with, taken from the demonstrations it will learn from.
 *
 * The first and 99th percentile of each number, as OpenVLA's datasets have it. The gripper is written as 1 open and
 * 0 closed, and left alone by normalization.
 */
import type { Demonstrations } from "#recordings";
import { UserError } from "#registry";

export interface ActionStatistics {
  readonly q01: number[];
  readonly q99: number[];
  readonly min: number[];
  readonly max: number[];
  readonly mean: number[];
  readonly std: number[];
  readonly mask: boolean[];
}

export interface DatasetStatistics {
  readonly action: ActionStatistics;
  readonly num_transitions: number;
  readonly num_trajectories: number;
}

export function demonstrationStatistics(sets: readonly Demonstrations[]): DatasetStatistics {
  const actionSize = handActionSize * Math.max(1, ...sets.map(({ info }) => info.hands ?? 1));
  const columns: number[][] = Array.from({ length: actionSize }, () => []);
  let episodes = 0;
  for (const set of sets) {
    for (const { shard, firstFrame, length, succeeded } of set.episodes) {
      if (!succeeded) continue;
      episodes++;
      const rows = set.shards[shard]!.get("expert_actions")!.narrow(0, firstFrame, length);
      for (const [i, value] of rows.toArray().entries()) columns[i % actionSize]!.push(value);
      rows.dispose();
    }
  }
  if (episodes === 0)
    throw new UserError("the demonstrations hold no successful episode: no statistics to take");
  const opening = (commands: readonly number[]) => commands.map((command) => (1 - command) / 2);
  const described = columns.map((column, i) => describe(isGripper(i) ? opening(column) : column));
  const field = (name: keyof ReturnType<typeof describe>): number[] => described.map((one) => one[name]);
  return {
    action: {
      q01: field("q01"),
      q99: field("q99"),
      min: field("min"),
      max: field("max"),
      mean: field("mean"),
      std: field("std"),
      mask: described.map((_, i) => !isGripper(i)),
    },
    num_transitions: columns[0]!.length,
    num_trajectories: episodes,
  };
}

/** Of each hand: translation, rotation, gripper. */
const handActionSize = 7;
const isGripper = (i: number): boolean => i % handActionSize === handActionSize - 1;

function describe(values: readonly number[]) {
  const sorted = Float64Array.from(values).sort();
  const mean = sorted.reduce((sum, value) => sum + value, 0) / sorted.length;
  const variance = sorted.reduce((sum, value) => sum + (value - mean) ** 2, 0) / sorted.length;
  return {
    q01: quantile(sorted, 0.01),
    q99: quantile(sorted, 0.99),
    min: sorted[0]!,
    max: sorted.at(-1)!,
    mean,
    std: Math.sqrt(variance),
  };
}

/** Linear between neighbors, as numpy.quantile. */
export function quantile(sorted: ArrayLike<number>, share: number): number {
  const place = share * (sorted.length - 1);
  const below = Math.floor(place);
  const above = Math.min(below + 1, sorted.length - 1);
  return sorted[below]! + (sorted[above]! - sorted[below]!) * (place - below);
}
