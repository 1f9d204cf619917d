/** A truth report as a chart: how PSNR, SSIM and latent drift go on with the horizon, one panel each. */
import { type Chart, drawChart, palette } from "#pictures";
import type { TruthReport } from "./truth.ts";

const colors = [palette.blue, palette.green, palette.orange] as const;

export function truthPlot({ frames, ...report }: TruthReport): Promise<Chart> {
  const drift = frames.flatMap((row) => row.drift ?? []);
  const curves = [
    { title: "PSNR, dB", values: frames.map((row) => row.psnr) },
    { title: "SSIM", values: frames.map((row) => row.ssim) },
    ...(drift.length === frames.length ? [{ title: "latent drift, RMS", values: drift }] : []),
  ];
  // Without a single failure there is nothing that could be taken for a success.
  const { agreement, falsePositive, missedSuccess, falseSuccess } = report;
  const share = (value: number) =>
    Number.isFinite(value) ? `${(100 * value).toFixed(1)} %` : "none possible";
  return drawChart({
    title: {
      text: "Imagined frames beside the ground truth",
      subtitle: [
        `agreement ${share(agreement.share)}; P(dream success | real failure) ${share(falsePositive.share)}; ` +
          `P(dream failure | real success) ${share(missedSuccess.share)}`,
        `false success, P(real failure | dream success) ${share(falseSuccess.share)}: lower for a better policy`,
      ],
    },
    hconcat: curves.map((curve, i) => panel(curve, colors[i]!)),
  });
}

function panel({ title, values }: { title: string; values: readonly number[] }, color: string) {
  return {
    width: 300,
    height: 220,
    data: { values: values.map((value, i) => ({ action: i + 1, value })) },
    mark: { type: "line" as const, strokeWidth: 2.5, color: color },
    encoding: {
      x: {
        field: "action",
        type: "quantitative" as const,
        title: "actions since the start",
        axis: { grid: false },
      },
      y: { field: "value", type: "quantitative" as const, title, scale: { zero: false } },
    },
  };
}
