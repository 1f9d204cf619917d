/** A truth report as text: what a reader wants to know first, first. */
import type { Proportion } from "./meters.ts";
import type { AutoencoderTruth, TruthReport } from "./truth.ts";

const percent = (value: number): string => (Number.isNaN(value) ? "–" : `${(100 * value).toFixed(1)} %`);
const interval = ({ share, low, high, count, of }: Proportion): string =>
  `${percent(share)} (${percent(low)} to ${percent(high)}; ${count} of ${of})`;

export function truthTable(report: TruthReport, autoencoder?: AutoencoderTruth): string {
  const { real, dreamt } = report.judge;
  return [
    `episodes               ${report.episodes}, success from ${report.threshold} held ${report.holdFrames} frame(s)`,
    `agreement              ${interval(report.agreement)}`,
    `false positives        ${interval(report.falsePositive)}: P(dream success | real failure)`,
    `missed successes       ${interval(report.missedSuccess)}: P(dream failure | real success)`,
    `false success          ${interval(report.falseSuccess)}: P(real failure | dream success), lower for a better policy`,
    `success, dream         ${interval(report.dreamSuccess)}`,
    `success, simulator     ${interval(report.trueSuccess)}`,
    `reward model, real     AUC ${real.auc.toFixed(4)}, calibration error ${real.calibrationError.toFixed(3)} (${real.frames} frames)`,
    `reward model, dreams   AUC ${dreamt.auc.toFixed(4)}, calibration error ${dreamt.calibrationError.toFixed(3)}`,
    `PSNR of first chunk    ${report.firstChunkPsnr.toFixed(2)} dB`,
    `reward model on truth  agreement ${interval(report.judgeAgreement)}`,
    ...(autoencoder
      ? [
          `autoencoder alone      agreement ${interval(autoencoder.agreement)}, PSNR ${autoencoder.psnr.toFixed(2)} dB`,
        ]
      : []),
    "",
    ...sweepLines(report),
    "",
    ...horizonLines(report),
    "",
    ...taskLines(report),
  ].join("\n");
}

const sweepLines = ({ sweep }: TruthReport): string[] => [
  "threshold  held   false positive   missed   false success   agree   dream",
  ...sweep.map((row) =>
    [
      row.threshold.toFixed(2).padStart(9),
      String(row.holdFrames).padStart(6),
      percent(row.falsePositive.share).padStart(17),
      percent(row.missedSuccess.share).padStart(9),
      percent(row.falseSuccess.share).padStart(16),
      percent(row.agreement.share).padStart(8),
      percent(row.dreamSuccess.share).padStart(8),
    ].join(""),
  ),
];

const horizonLines = ({ frames }: TruthReport): string[] => [
  "frame   PSNR dB   SSIM   drift  samples",
  ...frames
    .filter(({ frame }) => frame === 1 || frame % 4 === 0)
    .map((row) =>
      [
        String(row.frame).padStart(5),
        row.psnr.toFixed(2).padStart(9),
        row.ssim.toFixed(3).padStart(8),
        (row.drift?.toFixed(3) ?? "–").padStart(8),
        String(row.samples).padStart(8),
      ].join(""),
    ),
];

const taskLines = ({ tasks }: TruthReport): string[] =>
  tasks
    .filter(({ trueSuccess }) => trueSuccess.of > 0)
    .map(({ task, dreamSuccess, trueSuccess, falsePositive, missedSuccess, gap }) =>
      [
        `${percent(dreamSuccess.share).padStart(8)} dreamt`,
        `${percent(trueSuccess.share).padStart(8)} simulated`,
        `gap ${(100 * gap).toFixed(1).padStart(6)}`,
        `false positives ${percent(falsePositive.share).padStart(7)}`,
        `missed ${percent(missedSuccess.share).padStart(7)}  ${task}`,
      ].join("  "),
    );
