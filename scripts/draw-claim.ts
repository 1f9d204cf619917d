/**
 * `draw-claim.ts OUT.png RUN…`: success in training of several runs in one chart, true runs beside their controls.
 *
 * A run's folder whose name begins with "true" is drawn in blue, any other in grey. OUT.svg is written too.
 */
import { writeFileSync } from "node:fs";
import { basename } from "node:path";
import { readMetricsFile } from "#metrics";
import { drawChart, palette, shareAxis } from "#pictures";

const [picture = "curves.png", ...runs] = process.argv.slice(2);
const [learned, control] = ["true advantages", "shuffled advantages"];

const values = runs.flatMap((run) =>
  readMetricsFile(`${run}/metrics.jsonl`).flatMap((line, step) => {
    const success = line.metrics["env/success_once"];
    const kind = basename(run).startsWith("true") ? learned : control;
    return typeof success === "number" ? [{ run, kind, step: step + 1, success }] : [];
  }),
);
const { svg, png } = await drawChart({
  width: 860,
  height: 400,
  title: "Success rate in training",
  data: { values },
  mark: { type: "line", strokeWidth: 2.5 },
  encoding: {
    x: { field: "step", type: "quantitative", title: "training step", axis: { grid: false } },
    y: shareAxis("success", "success rate"),
    detail: { field: "run" },
    color: {
      field: "kind",
      title: null,
      scale: { domain: [learned, control], range: [palette.blue, palette.grey] },
      legend: { orient: "top", labelLimit: 0 },
    },
  },
});
writeFileSync(picture, png);
writeFileSync(picture.replace(/\.png$/, ".svg"), svg);
