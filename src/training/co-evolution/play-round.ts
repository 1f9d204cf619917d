/**
 * The current policy's episodes in the simulator of `env.eval`, recorded for one round: some to learn from, some to measure on.
 *
 * The policy is saved first and read by the processes that play; both sets are made at the same time. Their starts are drawn fresh, never
 * those of evaluations, from seeds that depend on the run's seed and the step alone.
 */

import { mkdirSync, rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import type { RunConfig } from "#config";
import type { Policy } from "#policies";
import { recordingSeed } from "#random";
import { recordingSettings } from "#recordings";
import { type RecordingProgress, recordEpisodes } from "#world-training";
import { trainingTemperature } from "./closed-loop.ts";

export interface RoundToPlay {
  readonly config: RunConfig;
  readonly policy: Policy;
  readonly step: number;
  /** Of this round; emptied first. */
  readonly folder: string;
  /** Width and height of the pictures that the world knows. */
  readonly size: number;
  readonly episodes: number; // to learn from; 0: none
  /** Where episodes to learn from are acted in, and where it imagines; absent: in the simulator. */
  readonly dream?: { readonly world: string; readonly device: string };
  readonly onProgress: (done: number, total: number) => void;
  /** Ends the recording. */
  readonly signal?: AbortSignal | undefined;
}

export const playedFolder = (round: string): string => join(round, "played");
export const examFolder = (round: string): string => join(round, "exam");

export async function playRound(round: RoundToPlay): Promise<void> {
  const { config, policy, folder, episodes, onProgress, signal } = round;
  rmSync(folder, { recursive: true, force: true });
  const saved = join(folder, "policy");
  mkdirSync(saved, { recursive: true });
  await policy.save(saved);
  const { exam_episodes: exam, temperatures, workers = availableParallelism() } = config.runner.co_evolution;
  const total = exam + episodes;
  const forExam = Math.max(1, Math.round((workers * exam) / total));
  const done = { played: 0, exam: 0 };
  const record = (part: keyof typeof done, count: number, by: number, at: readonly number[]) =>
    recordEpisodes({
      order: orderOf(round, saved, part === "exam" ? 1 : 0, at),
      episodes: count,
      workers: by,
      out: part === "exam" ? examFolder(folder) : playedFolder(folder),
      signal,
      onProgress: (progress: RecordingProgress) => {
        done[part] = progress.done;
        onProgress(done.played + done.exam, total);
      },
    });
  await Promise.all([
    record("exam", exam, forExam, [trainingTemperature(config)]),
    ...(episodes > 0 ? [record("played", episodes, Math.max(1, workers - forExam), temperatures)] : []),
  ]);
  rmSync(saved, { recursive: true });
}

function orderOf(
  { config, step, size, dream }: RoundToPlay,
  saved: string,
  part: number,
  temperatures: readonly number[],
) {
  const { model } = config.actor;
  const dreams = part === 0 ? dream : undefined;
  const device = dreams?.device ?? config.runner.co_evolution.device;
  const steps = config.env.train.max_episode_steps;
  return {
    settings: recordingSettings.parse({
      suite: config.env.eval?.task_suite_name,
      size,
      steps,
      ...(part === 1 && { steps_after_success: steps }), // an exam goes on to its end: a dream may be a little late
      seed: recordingSeed(config.runner.seed, step),
      purpose: part === 1 ? "exams" : "recordings",
    }),
    policy: {
      section: {
        ...model,
        ...(model.is_lora ? { lora_path: saved } : { model_path: saved }),
        ...(device === "cpu" && { precision: "fp32" }), // 16 bits are slower there
      },
      temperatures,
      device,
      ...(dreams && { world: dreams.world }),
    },
  };
}
