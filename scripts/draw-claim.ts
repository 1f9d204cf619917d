/**
 * `draw-claim.ts OUT.png RUN…`: success in training of several runs in one picture, true runs beside their controls.
 *
 * A run's folder whose name begins with "true" is drawn in blue, any other in grey.
 */
import { writeFileSync } from "node:fs";
import { basename } from "node:path";
import { encodePng } from "#formats";
import { readMetricsFile } from "#metrics";
import { Canvas, type Colour } from "../src/training/start/canvas.ts";
import { ticks } from "../src/training/start/learning-curve.ts";

const [picture = "curves.png", ...runs] = process.argv.slice(2);
const size = { width: 1080, height: 600 };
const plot = { left: 96, right: 1050, top: 70, bottom: 520 };
const [ink, grid, learned, control]: Colour[] = [
  [32, 33, 36],
  [226, 228, 232],
  [38, 98, 190],
  [150, 150, 156],
];

const curves = runs.map((run) => ({
  colour: (basename(run).startsWith("true") ? learned : control) as Colour,
  success: readMetricsFile(`${run}/metrics.jsonl`).flatMap((line) => {
    const value = line.metrics["env/success_once"];
    return typeof value === "number" ? [value] : [];
  }),
}));
const last = Math.max(...curves.map(({ success }) => success.length));
const x = (step: number) => plot.left + ((step - 1) / Math.max(1, last - 1)) * (plot.right - plot.left);
const y = (success: number) => plot.bottom - success * (plot.bottom - plot.top);

const canvas = new Canvas(size.width, size.height);
for (let share = 0; share <= 1.001; share += 0.2) {
  canvas.line([plot.left, y(share)], [plot.right, y(share)], grid as Colour);
  canvas.text(`${Math.round(100 * share)} %`, [plot.left - 12, y(share)], {
    colour: ink as Colour,
    align: "right",
  });
}
for (const step of ticks(last))
  canvas.text(String(step), [x(step), plot.bottom + 22], { colour: ink as Colour, align: "centre" });
for (const { colour, success } of curves) {
  for (let i = 1; i < success.length; i++)
    canvas.line([x(i), y(success[i - 1]!)], [x(i + 1), y(success[i]!)], colour, 3);
}
canvas.text("success in training", [plot.left, 28], { colour: ink as Colour });
canvas.text("true advantages", [plot.left + 420, 28], { colour: learned as Colour });
canvas.text("shuffled advantages", [plot.left + 640, 28], { colour: control as Colour });
canvas.text("training step", [(plot.left + plot.right) / 2, size.height - 22], {
  colour: ink as Colour,
  align: "centre",
});
writeFileSync(picture, encodePng({ ...size, channels: 3, data: canvas.data }));
