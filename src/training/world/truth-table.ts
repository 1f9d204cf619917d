/** A truth report as text: what a reader wants to know first, first. */
import type { Proportion } from "./meters.ts";
import type { TruthReport } from "./truth.ts";

const percent = (value: number): string => (Number.isNaN(value) ? "–" : `${(100 * value).toFixed(1)} %`);
const interval = ({ share, low, high, count, of }: Proportion): string =>
  `${percent(share)} (${percent(low)} to ${percent(high)}; ${count} of ${of})`;

export function truthTable(report: TruthReport): string {
  const lines = [
    `episodes replayed      ${report.episodes}`,
    `agreement              ${interval(report.agreement)}`,
    `false success          ${interval(report.falseSuccess)}`,
    `missed success         ${interval(report.missedSuccess)}`,
    `success, dream         ${interval(report.dreamSuccess)}`,
    `success, recorded      ${interval(report.trueSuccess)}`,
    `judge on recordings    AUC ${report.judge.auc.toFixed(4)}, calibration error ${report.judge.calibrationError.toFixed(3)}, ${report.judge.frames} frames`,
    `PSNR of first chunk    ${report.firstChunkPsnr.toFixed(2)} dB`,
    "",
    "frame   PSNR dB   SSIM    samples",
    ...report.frames
      .filter(({ frame }) => frame === 1 || frame % 4 === 0)
      .map((row) =>
        [
          String(row.frame).padStart(5),
          row.psnr.toFixed(2).padStart(9),
          row.ssim.toFixed(3).padStart(7),
          String(row.samples).padStart(9),
        ].join(""),
      ),
    "",
    ...report.tasks
      .filter(({ truth }) => truth.of > 0)
      .map(
        ({ task, dream, truth }) =>
          `${percent(dream.share).padStart(8)} dreamt, ${percent(truth.share).padStart(8)} recorded  ${task}`,
      ),
  ];
  return lines.join("\n");
}
