/** Small real runs for tests: an untrained policy of a few thousand weights, and few, small, short episodes. */

import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CheckedConfig } from "#config";
import { type MiniSizes, writeFreshCheckpoint } from "#policies";
import { findSuite } from "#simulators";
import { silent } from "../../src/training/reporter.ts";
import { Run } from "../../src/training/run.ts";
import { train } from "../../src/training/train.ts";

/** A checkpoint that knows the words of the given suites. */
export function tinyCheckpoint(
  suites: readonly string[],
  unnormKey: string,
  seed = 1,
  sizes: Partial<MiniSizes> = {},
): string {
  const folder = mkdtempSync(join(tmpdir(), "reverie-tiny-"));
  const wide = { q01: [-1, -1, -1, -1, -1, -1, 0], q99: [1, 1, 1, 1, 1, 1, 1] };
  writeFreshCheckpoint(folder, {
    tasks: suites.flatMap((suite) => findSuite(suite).tasks.map(({ language }) => language)),
    normStats: {
      [unnormKey]: { action: { ...wide, mask: [true, true, true, true, true, true, false] } },
    },
    unnormKey,
    seed,
    sizes: {
      image_size: 16,
      patch_size: 8,
      vision_width: 16,
      vision_depths: [2, 2],
      vision_heads: 2,
      text_width: 16,
      text_hidden: 24,
      text_layers: 1,
      text_heads: 2,
      ...sizes,
    },
  });
  return folder;
}

/** Overrides that make any simulator configuration tiny: `steps` training steps of a few short episodes on the CPU. */
export function tinyOverrides(options: {
  readonly model: string;
  readonly logs: string;
  readonly steps?: number;
  readonly group?: number;
}): string[] {
  const { model, logs, steps = 2, group = 2 } = options;
  const env = (section: string): string[] => [
    `env.${section}.max_episode_steps=16`,
    `env.${section}.max_steps_per_rollout_epoch=16`,
    `env.${section}.init_params.camera_heights=32`,
    `env.${section}.init_params.camera_widths=32`,
    `env.${section}.video_cfg.save_video=False`,
    `env.${section}.env_workers=0`,
  ];
  return [
    "cluster.simulated_devices=1",
    `runner.logger.log_path=${logs}`,
    `runner.max_epochs=${steps}`,
    "runner.save_interval=1",
    ...env("train"),
    ...env("eval"),
    `env.train.total_num_envs=${2 * group}`,
    "env.train.rollout_epoch=1",
    "env.eval.total_num_envs=4",
    "env.eval.rollout_epoch=1",
    `algorithm.group_size=${group}`,
    `actor.global_batch_size=${2 * group}`,
    "actor.micro_batch_size=2",
    `actor.model.model_path=${model}`,
    `rollout.model.model_path=${model}`,
    "actor.model.precision=fp32",
    "actor.fsdp_config.gradient_checkpointing=False",
  ];
}

/** The whole run, with all that it opened closed again. */
export async function playRun(checked: CheckedConfig): Promise<void> {
  const run = await Run.open(checked, silent);
  try {
    await train(run);
  } finally {
    await run.close();
  }
}
