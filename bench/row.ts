/**
 * One measured line: ours beside the reference, taken in the same run on the same machine.
 *
 * `ratio` is ours / reference where less is better (times), and the goal is an upper bound; for rates the bench
 * turns it round first, so that a ratio is always time-like. `limit` is what the hardware allows, where known.
 */
export interface BenchRow {
  readonly name: string;
  readonly unit: string;
  readonly ours: number;
  readonly reference: number | null;
  readonly limit: number | null;
  readonly ratio: number | null;
  readonly goal: number | null;
  readonly ok: boolean | null;
}

interface RowInput {
  readonly name: string;
  readonly unit: string;
  readonly ours: number;
  readonly reference?: number;
  readonly limit?: number;
  /** The largest ratio that is good enough. */
  readonly goal?: number;
}

/** A row whose numbers are times or bytes: less is better. */
export const lessIsBetter = (input: RowInput): BenchRow =>
  row(input, input.reference === undefined ? null : input.ours / input.reference);

/** A row whose numbers are rates: more is better, and the ratio is reference / ours. */
export const moreIsBetter = (input: RowInput): BenchRow =>
  row(input, input.reference === undefined ? null : input.reference / input.ours);

function row({ name, unit, ours, reference, limit, goal }: RowInput, ratio: number | null): BenchRow {
  const ok = ratio === null || goal === undefined ? null : ratio <= goal;
  return {
    name,
    unit,
    ours,
    reference: reference ?? null,
    limit: limit ?? null,
    ratio,
    goal: goal ?? null,
    ok,
  };
}

/** A row for a property that either holds or does not; ours counts the violations. */
export const holds = (name: string, violations: number, unit = "violations"): BenchRow => ({
  name,
  unit,
  ours: violations,
  reference: 0,
  limit: null,
  ratio: null,
  goal: 0,
  ok: violations === 0,
});

const short = (x: number | null): string =>
  x === null ? "–" : Math.abs(x) >= 100 ? x.toFixed(0) : x.toPrecision(3);

export function tableOf(rows: readonly BenchRow[]): string {
  const cells = rows.map((r) => [
    r.name,
    r.unit,
    short(r.ours),
    short(r.reference),
    short(r.limit),
    short(r.ratio),
    r.goal === null ? "–" : `<= ${r.goal}`,
    r.ok === null ? "" : r.ok ? "ok" : "MISSED",
  ]);
  const head = ["what", "unit", "ours", "reference", "limit", "ratio", "goal", ""];
  return [head, head.map(() => "---"), ...cells].map((line) => `| ${line.join(" | ")} |`).join("\n");
}
