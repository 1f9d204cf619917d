/** A truth report as a picture: how PSNR, SSIM and latent drift go on with the horizon, one panel each. */
import { glyphHeight, glyphWidth, hasInk, type Rgb } from "#envs";
import { encodePng } from "#formats";
import type { TruthReport } from "./truth.ts";

const panel = { width: 320, height: 220, left: 44, right: 12, top: 30, bottom: 30 } as const;
const ink = [32, 33, 36] as const;
const grid = [222, 224, 228] as const;
const colours = [
  [38, 98, 190],
  [26, 138, 92],
  [196, 78, 42],
] as const;
type Colour = readonly [number, number, number];

interface Curve {
  readonly title: string;
  readonly values: readonly number[];
}

/** PNG bytes. */
export function truthPlot({ frames, agreement, falseSuccess }: TruthReport): Uint8Array {
  const drift = frames.flatMap((row) => row.drift ?? []);
  const curves: Curve[] = [
    { title: "PSNR, dB", values: frames.map((row) => row.psnr) },
    { title: "SSIM", values: frames.map((row) => row.ssim) },
    ...(drift.length === frames.length ? [{ title: "latent drift, RMS", values: drift }] : []),
  ];
  const width = panel.width * curves.length;
  const canvas: Rgb = {
    width,
    height: panel.height,
    data: new Uint8Array(width * panel.height * 3).fill(255),
  };
  for (const [i, curve] of curves.entries()) drawCurve(canvas, i * panel.width, curve, colours[i]!);
  // Without a single failure there is nothing that could be taken for a success.
  const share = (value: number) =>
    Number.isFinite(value) ? `${(100 * value).toFixed(1)} %` : "none possible";
  const summary = `agreement ${share(agreement.share)}, false success ${share(falseSuccess.share)}`;
  write(canvas, summary, width - panel.right - summary.length * glyphWidth, panel.height - glyphHeight - 2);
  return encodePng({ ...canvas, channels: 3 });
}

function drawCurve(canvas: Rgb, left: number, { title, values }: Curve, colour: Colour): void {
  const { low, high, step } = scaleOf(values);
  const x = (i: number): number =>
    left + panel.left + (i / Math.max(values.length - 1, 1)) * (panel.width - panel.left - panel.right);
  const y = (value: number): number =>
    panel.height - panel.bottom - ((value - low) / (high - low)) * (panel.height - panel.top - panel.bottom);
  const digits = Math.max(0, -Math.floor(Math.log10(step)));
  for (let i = 0; i <= Math.round((high - low) / step); i++) {
    const value = low + i * step;
    line(canvas, x(0), y(value), x(values.length - 1), y(value), grid);
    const label = value.toFixed(digits);
    write(canvas, label, left + panel.left - 4 - label.length * glyphWidth, y(value) - glyphHeight / 2);
  }
  for (const i of [0, (values.length - 1) >> 1, values.length - 1]) {
    const label = String(i + 1);
    write(canvas, label, x(i) - (label.length * glyphWidth) / 2, panel.height - panel.bottom + 4);
  }
  write(canvas, `${title} by actions since the start`, left + panel.left, 8);
  for (let i = 1; i < values.length; i++) {
    for (const thick of [0, 1])
      line(canvas, x(i - 1), y(values[i - 1]!) + thick, x(i), y(values[i]!) + thick, colour);
  }
}

/** Round steps of 1, 2 or 5 that hold all values, about five of them. */
function scaleOf(values: readonly number[]): { low: number; high: number; step: number } {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const rough = Math.max(most - least, 1e-3) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10);
  const low = Math.floor(least / step) * step;
  return { low, high: Math.max(Math.ceil(most / step) * step, low + step), step };
}

function line(canvas: Rgb, x0: number, y0: number, x1: number, y1: number, colour: Colour): void {
  const steps = Math.max(1, Math.ceil(Math.max(Math.abs(x1 - x0), Math.abs(y1 - y0))));
  for (let i = 0; i <= steps; i++)
    dot(canvas, x0 + ((x1 - x0) * i) / steps, y0 + ((y1 - y0) * i) / steps, colour);
}

function write(canvas: Rgb, text: string, left: number, top: number): void {
  for (const [column, character] of [...text].entries())
    for (let y = 0; y < glyphHeight; y++)
      for (let x = 0; x < glyphWidth; x++)
        if (hasInk(character, x, y)) dot(canvas, left + column * glyphWidth + x, top + y, ink);
}

function dot({ width, height, data }: Rgb, x: number, y: number, colour: Colour): void {
  const [column, row] = [Math.round(x), Math.round(y)];
  if (column < 0 || row < 0 || column >= width || row >= height) return;
  data.set(colour, 3 * (row * width + column));
}
