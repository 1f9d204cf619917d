/** Statistics of a LeRobot dataset's features: what its policies normalize with. */

/** One number per dimension; for pictures nested as [channel][1][1]. */
export type FeatureStatistics = Readonly<Record<string, readonly unknown[]>>;

const quantiles = { q01: 0.01, q10: 0.1, q50: 0.5, q90: 0.9, q99: 0.99 } as const;

/** Rows of equal length. */
export function vectorStatistics(rows: readonly ArrayLike<number>[]): FeatureStatistics {
  const columns = Array.from({ length: rows[0]?.length ?? 0 }, (_, dimension) =>
    columnStatistics(Float64Array.from(rows, (row) => row[dimension]!)),
  );
  const names = ["min", "max", "mean", "std", ...Object.keys(quantiles)];
  const gathered = names.map((name) => [name, columns.map((column) => column[name]!)]);
  return { ...Object.fromEntries(gathered), count: [rows.length] };
}

/** Pictures as bytes, channels interleaved; statistics are of values in [0, 1]. */
export function pictureStatistics(pictures: readonly Uint8Array[]): FeatureStatistics {
  const channels = [0, 1, 2].map((channel) => histogramStatistics(histogram(pictures, channel)));
  const names = ["min", "max", "mean", "std", ...Object.keys(quantiles)];
  const gathered = names.map((name) => [name, channels.map((values) => [[values[name]!]])]);
  return { ...Object.fromEntries(gathered), count: [pictures.length] };
}

type Numbers = Readonly<Record<string, number>>;

function columnStatistics(values: Float64Array): Numbers {
  values.sort();
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
  return {
    min: values[0]!,
    max: values.at(-1)!,
    mean,
    std: Math.sqrt(variance),
    ...mapQuantiles((share) => between(values, share * (values.length - 1))),
  };
}

/** Linear interpolation between neighbors, NumPy's default. */
function between(sorted: Float64Array, position: number): number {
  const below = Math.floor(position);
  const above = Math.min(below + 1, sorted.length - 1);
  return sorted[below]! + (sorted[above]! - sorted[below]!) * (position - below);
}

function histogram(pictures: readonly Uint8Array[], channel: number): Float64Array {
  const counts = new Float64Array(256);
  for (const picture of pictures) for (let i = channel; i < picture.length; i += 3) counts[picture[i]!]!++;
  return counts;
}

function histogramStatistics(counts: Float64Array): Numbers {
  const total = counts.reduce((sum, count) => sum + count, 0);
  const mean = counts.reduce((sum, count, value) => sum + count * value, 0) / total;
  const variance = counts.reduce((sum, count, value) => sum + count * (value - mean) ** 2, 0) / total;
  const level = (share: number): number => {
    let seen = 0;
    return counts.findIndex((count) => (seen += count) >= share * total && seen > 0);
  };
  const numbers = {
    min: level(0),
    max: counts.findLastIndex((count) => count > 0),
    mean,
    std: Math.sqrt(variance),
    ...mapQuantiles(level),
  };
  return Object.fromEntries(Object.entries(numbers).map(([name, value]) => [name, value / 255]));
}

const mapQuantiles = (at: (share: number) => number): Numbers =>
  Object.fromEntries(Object.entries(quantiles).map(([name, share]) => [name, at(share)]));
