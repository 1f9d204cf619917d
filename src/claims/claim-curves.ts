/** Success in training of a claim's runs in one chart: true runs in blue, comparisons in other colors, controls in gray. */
import { type Chart, drawChart, palette, shareAxis } from "#pictures";
import { isControl } from "./claim-file.ts";
import { type ClaimResults, runName } from "./claim-results.ts";

/** Undefined where no run has done a step. */
export async function drawClaimCurves({ claim, arms }: ClaimResults): Promise<Chart | undefined> {
  const trained = arms.filter(({ curve }) => curve.some((success) => success !== null));
  if (trained.length === 0) return undefined;
  const values = trained.flatMap(({ name, seed, curve }) =>
    curve.flatMap((success, i) =>
      success === null ? [] : [{ run: runName(name, seed), arm: name, step: i + 1, success }],
    ),
  );
  const byName = new Map(trained.map(({ name, kind }) => [name, kind]));
  const [domain, kinds] = [[...byName.keys()], [...byName.values()]];
  const series = { field: "arm", title: null, legend: { orient: "top", labelLimit: 0 } } as const;
  return drawChart({
    width: 860,
    height: 400,
    title: claim.plot_title,
    data: { values },
    mark: { type: "line", strokeWidth: 2.5, point: trained.every(({ curve }) => curve.length === 1) },
    encoding: {
      x: { field: "step", type: "quantitative", title: "training step", axis: { grid: false } },
      y: shareAxis("success", "success rate"),
      detail: { field: "run" },
      color: { ...series, scale: { domain, range: colorsOf(kinds) } },
      strokeDash: { ...series, scale: { domain, range: dashesOf(kinds) } },
    },
  });
}

function colorsOf(kinds: readonly string[]): string[] {
  const colors = [palette.orange, palette.green, palette.ink];
  let next = 0;
  return kinds.map((kind) => {
    if (kind === "true") return palette.blue;
    return isControl(kind) ? palette.gray : colors[next++ % colors.length]!;
  });
}

/** Controls are all gray: after the first one they are told apart by their dashes. */
function dashesOf(kinds: readonly string[]): number[][] {
  const controls = kinds.filter(isControl).length;
  const dashes = [
    [1, 0],
    [8, 4],
    [2, 3],
    [8, 3, 2, 3],
  ];
  let next = 0;
  return kinds.map((kind) =>
    isControl(kind) && controls > 1 ? dashes[next++ % dashes.length]! : dashes[0]!,
  );
}
