/** What the live view says, as plain text: one line each for progress, results and time. */
import { formatDuration } from "./duration.ts";
import type { Metrics } from "./metric.ts";
import { formatNumber } from "./table-writer.ts";

/** Which metrics a glance should show, and how they are called there. The first that exists of each. */
const headline: readonly (readonly [string, readonly string[]])[] = [
  ["success", ["env/success_once"]],
  ["eval success", ["eval/success_once"]],
  ["return", ["env/return"]],
  ["length", ["env/episode_len"]],
  ["loss", ["train/loss", "train/actor/total_loss"]],
  ["kl", ["train/actor/approx_kl"]],
  ["clipped", ["train/actor/clip_fraction"]],
  ["grad", ["train/actor/grad_norm"]],
  ["explained", ["train/critic/explained_variance"]],
];

const phaseNames: Readonly<Record<string, string>> = {
  sync_weights: "weights",
  generate_rollouts: "rollouts",
  cal_adv_and_returns: "advantages",
  actor_training: "training",
  eval: "evaluation",
  save_checkpoint: "checkpoint",
  // Before the first step.
  start_engine: "starting the engine (libtorch, MuJoCo)",
  read_config: "reading the configuration",
  load_policy: "loading the policy",
  start_envs: "starting the environments",
};

export const phaseName = (phase: string): string => phaseNames[phase] ?? phase.replaceAll("_", " ");

export function headlineText(metrics: Metrics): string {
  return headline
    .flatMap(([label, names]) => {
      const value = names
        .map((name) => metrics[name])
        .find((number) => number !== undefined && !Number.isNaN(number));
      if (value === undefined) return [];
      const text = label.endsWith("success")
        ? `${(value * 100).toFixed(1)} %`
        : formatNumber(Number(value.toPrecision(3)));
      return [`${label} ${text}`];
    })
    .join("  ");
}

/** "20.8 s: rollouts 61 %, training 33 %, other 6 %"; worker-level times (time/env/…) are left to the files. */
export function timeText(metrics: Metrics): string {
  const total = metrics["time/step"];
  if (total === undefined || !(total > 0)) return "";
  const phases = Object.entries(metrics)
    .filter(([name]) => /^time\/[^/]+$/.test(name) && name !== "time/step")
    .sort(([, a], [, b]) => b - a);
  const other = total - phases.reduce((sum, [, seconds]) => sum + seconds, 0);
  const share = (label: string, seconds: number): string =>
    `${label} ${Math.round((seconds / total) * 100)} %`;
  const parts = phases.map(([name, seconds]) => share(phaseName(name.slice("time/".length)), seconds));
  // Phases that overlap add up to more than the step; there is no "other" to speak of then.
  if (other > 0.005 * total) parts.push(share("other", other));
  return `${formatDuration(total)}: ${parts.join(", ")}`;
}

export function progressBar(fraction: number, width: number): string {
  const filled = Math.round(Math.min(Math.max(fraction, 0), 1) * width);
  return "█".repeat(filled) + "░".repeat(width - filled);
}
