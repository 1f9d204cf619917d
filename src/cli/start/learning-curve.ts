/** The learning curve as a chart: success in training step by step, and before and after on stored and on fresh starts. */
import { type Chart, type ChartLayer, drawChart, palette, shareAxis } from "#pictures";
import { type Rate, successRate } from "#training";

export interface LearningCurve {
  readonly title: string;
  /** Success of each training step's episodes, and how many there were. */
  readonly steps: readonly { readonly success: number; readonly episodes: number }[];
  /** On the stored starts. */
  readonly before: Rate;
  readonly after: Rate;
  /** On starts that training never sees. */
  readonly fresh?: { readonly before: Rate; readonly after: Rate } | undefined;
}

const inTraining = "training episodes (line: mean of 5 steps)";
const evaluated = "evaluated: stored starts";
const onFresh = "fresh starts";

export function drawLearningCurve(curve: LearningCurve): Promise<Chart> {
  const last = Math.max(curve.steps.length, 1);
  const margin = 0.08 * (last + 1); // room for the words below the bars
  const rate = ({ success, episodes }: Rate): string => `${(100 * success).toFixed(1)} % of ${episodes}`;
  const { fresh } = curve;
  const freshText = fresh ? `; fresh starts: ${rate(fresh.before)} before, ${rate(fresh.after)} after` : "";
  const series = [inTraining, evaluated, ...(fresh ? [onFresh] : [])];
  return drawChart({
    width: 860,
    height: 420,
    title: {
      text: curve.title,
      subtitle: [
        `stored starts: ${rate(curve.before)} before, ${rate(curve.after)} after${freshText}`,
        "bars and bands: 95 % intervals",
      ],
    },
    encoding: {
      x: {
        field: "step",
        type: "quantitative",
        title: "training step",
        // Before and after stand one step outside, so that their bars do not hide the first and last dot.
        scale: { domain: [-margin, last + 1 + margin], nice: false },
        axis: { grid: false, values: ticks(last) },
      },
      color: {
        field: "series",
        type: "nominal",
        title: null,
        scale: { domain: series, range: [palette.blue, palette.orange, palette.green] },
        legend: { orient: "top", direction: "horizontal", labelLimit: 0, symbolOpacity: 1 },
      },
    },
    layer: [...trainingLayers(curve.steps), ...evaluationLayers(curve, last)],
  });
}

const success = (field: string) => shareAxis(field, "success rate");

/** Dots for single steps, a band for their 95 % intervals, a line for the mean of five. */
function trainingLayers(steps: LearningCurve["steps"]): ChartLayer[] {
  const values = steps.map((step, i) => {
    const { low, high } = successRate(Math.round(step.success * step.episodes), step.episodes);
    return { step: i + 1, low, high, success: step.success, mean: meanAround(steps, i), series: inTraining };
  });
  const data = { values };
  return [
    {
      data,
      mark: { type: "area", opacity: 0.14, interpolate: "step" },
      encoding: { y: success("low"), y2: { field: "high" } },
    },
    {
      data,
      mark: { type: "line", strokeWidth: 3 },
      encoding: { y: success("mean") },
    },
    {
      data,
      mark: { type: "point", filled: true, size: 50, opacity: 1 },
      encoding: { y: success("success") },
    },
  ];
}

function evaluationLayers({ before, after, fresh }: LearningCurve, last: number): ChartLayer[] {
  const beside = 0.03 * (last + 1); // fresh ones stand outside the stored ones
  const values = [
    { step: 0, series: evaluated, name: fresh ? "" : "before", ...before },
    { step: last + 1, series: evaluated, name: fresh ? "" : "after", ...after },
    ...(fresh
      ? [
          { step: -beside, series: onFresh, name: "before", ...fresh.before },
          { step: last + 1 + beside, series: onFresh, name: "after", ...fresh.after },
        ]
      : []),
  ];
  const data = { values };
  return [
    {
      data,
      mark: { type: "errorbar", ticks: { size: 16, thickness: 2.5 }, thickness: 2.5 },
      encoding: { y: success("low"), y2: { field: "high" } },
    },
    {
      data,
      mark: { type: "point", filled: true, size: 160, opacity: 1 },
      encoding: { y: success("success") },
    },
    {
      data,
      mark: { type: "text", baseline: "top", dy: 12, fontSize: 13 },
      encoding: { y: success("low"), text: { field: "name" } },
    },
  ];
}

/** About eight round numbers from 1 or the first multiple on. */
export function ticks(last: number): number[] {
  const spacing = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].find((each) => last / each <= 8) ?? last;
  const first = spacing === 1 ? 1 : spacing;
  return Array.from({ length: Math.floor((last - first) / spacing) + 1 }, (_, i) => first + i * spacing);
}

function meanAround(steps: LearningCurve["steps"], i: number): number {
  const near = steps.slice(Math.max(0, i - 2), i + 3);
  const episodes = near.reduce((sum, step) => sum + step.episodes, 0);
  return near.reduce((sum, step) => sum + step.success * step.episodes, 0) / Math.max(episodes, 1);
}
