/** The learning curve as a picture: success in training step by step, and before and after on the evaluation's starts. */
import { encodePng } from "#formats";
import { type Rate, successRate } from "../evaluation/statistics.ts";
import { Canvas, type Colour, textWidth } from "./canvas.ts";

export interface LearningCurve {
  readonly title: string;
  /** Success of each training step's episodes, and how many there were. */
  readonly steps: readonly { readonly success: number; readonly episodes: number }[];
  readonly before: Rate;
  readonly after: Rate;
}

const size = { width: 1080, height: 640 } as const;
const plot = { left: 96, right: 1056, top: 84, bottom: 556 } as const;
const ink: Colour = [32, 33, 36];
const soft: Colour = [112, 117, 124];
const grid: Colour = [226, 228, 232];
const inTraining: Colour = [38, 98, 190];
const evaluated: Colour = [196, 78, 42];

/** PNG bytes. */
export function drawLearningCurve(curve: LearningCurve): Uint8Array {
  const canvas = new Canvas(size.width, size.height);
  const last = Math.max(curve.steps.length, 1);
  // Before and after stand half a step outside, so that their bars do not hide the first and last dot.
  const x = (step: number): number => plot.left + 30 + (step / (last + 1)) * (plot.right - plot.left - 60);
  const y = (success: number): number => plot.bottom - success * (plot.bottom - plot.top);
  drawAxes(canvas, last, x, y);
  drawTraining(canvas, curve.steps, x, y);
  drawEvaluation(canvas, curve.before, x(0), y);
  drawEvaluation(canvas, curve.after, x(last + 1), y);
  drawWords(canvas, curve);
  return encodePng({ width: size.width, height: size.height, channels: 3, data: canvas.data });
}

type Scale = (value: number) => number;

function drawAxes(canvas: Canvas, last: number, x: Scale, y: Scale): void {
  for (let share = 0; share <= 1.001; share += 0.2) {
    canvas.line([plot.left, y(share)], [plot.right, y(share)], grid);
    canvas.text(`${Math.round(100 * share)} %`, [plot.left - 12, y(share)], { colour: ink, align: "right" });
  }
  for (const step of ticks(last)) {
    canvas.line([x(step), plot.bottom], [x(step), plot.bottom + 7], soft);
    canvas.text(String(step), [x(step), plot.bottom + 22], { colour: ink, align: "centre" });
  }
  canvas.line([plot.left, plot.top], [plot.left, plot.bottom], soft);
  canvas.line([plot.left, plot.bottom], [plot.right, plot.bottom], soft);
  canvas.text("success", [plot.left - 12, plot.top - 28], { colour: ink, scale: 1, align: "right" });
  canvas.text("training step", [(plot.left + plot.right) / 2, size.height - 24], {
    colour: ink,
    align: "centre",
  });
}

/** About eight round numbers from 1 or the first multiple on. */
export function ticks(last: number): number[] {
  const spacing = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].find((each) => last / each <= 8) ?? last;
  const first = spacing === 1 ? 1 : spacing;
  return Array.from({ length: Math.floor((last - first) / spacing) + 1 }, (_, i) => first + i * spacing);
}

/** Dots for single steps, a band for their 95 % intervals, a line for the mean of five. */
function drawTraining(canvas: Canvas, steps: LearningCurve["steps"], x: Scale, y: Scale): void {
  const half = (x(1) - x(0)) / 2;
  for (const [i, { success, episodes }] of steps.entries()) {
    const { low, high } = successRate(Math.round(success * episodes), episodes);
    const [left, right] = [Math.round(x(i + 1) - half), Math.round(x(i + 1) + half) - 1];
    canvas.rectangle([left, y(high)], [right, y(low)], inTraining, 0.12);
  }
  const means = steps.map((_, i) => meanAround(steps, i));
  for (let i = 1; i < means.length; i++)
    canvas.line([x(i), y(means[i - 1]!)], [x(i + 1), y(means[i]!)], inTraining, 3);
  for (const [i, { success }] of steps.entries()) canvas.disc([x(i + 1), y(success)], 4, inTraining);
}

function meanAround(steps: LearningCurve["steps"], i: number): number {
  const near = steps.slice(Math.max(0, i - 2), i + 3);
  const episodes = near.reduce((sum, step) => sum + step.episodes, 0);
  return near.reduce((sum, step) => sum + step.success * step.episodes, 0) / Math.max(episodes, 1);
}

function drawEvaluation(canvas: Canvas, { success, low, high }: Rate, x: number, y: Scale): void {
  canvas.line([x, y(low)], [x, y(high)], evaluated, 3);
  for (const end of [low, high]) canvas.line([x - 9, y(end)], [x + 9, y(end)], evaluated, 3);
  canvas.disc([x, y(success)], 8, evaluated);
}

function drawWords(canvas: Canvas, { title, before, after }: LearningCurve): void {
  canvas.text(title, [plot.left, 24], { colour: ink });
  const rate = ({ success, episodes }: Rate): string => `${(100 * success).toFixed(1)} % of ${episodes}`;
  const first = "in training, one dot a step, line: mean of 5";
  const second = `evaluated: ${rate(before)} before, ${rate(after)} after`;
  canvas.disc([plot.left + 6, 56], 5, inTraining);
  canvas.text(first, [plot.left + 20, 56], { colour: inTraining, scale: 1 });
  const left = plot.left + 20 + textWidth(first, 1) + 40;
  canvas.disc([left, 56], 6, evaluated);
  canvas.text(`${second}; bars and bands: 95 % intervals`, [left + 14, 56], { colour: evaluated, scale: 1 });
}
