/**
 * What is different between the settings that a checkpoint was made with and those of the run that goes on from it.
 *
 * Three kinds. What the stored state depends on (seed, envs, group size, tasks, base model) is refused: the run would be neither the old
 * nor a new one. What a person may well change in the middle (learning rate, clipping, batch size, more steps) is obeyed and said, with
 * both values. Where things run and what is written (devices, loggers, films) makes no difference to what is learned and is not mentioned.
 */
import { createHash } from "node:crypto";
import type { RunConfig } from "#config";
import { loadedPlugins } from "#registry";

export type Settings = Readonly<Record<string, unknown>>;

export interface SettingChange {
  readonly key: string;
  readonly before: unknown;
  readonly now: unknown;
}

export interface SettingsChanges {
  readonly refused: readonly SettingChange[];
  readonly said: readonly SettingChange[];
}

const refusedKeys: readonly string[] = [
  "runner.seed",
  "algorithm.adv_type",
  "algorithm.group_size",
  "env.train.env_type",
  "env.train.task_suite_name",
  "env.train.seed",
  "env.train.total_num_envs",
  "env.train.auto_reset",
  "env.train.use_fixed_reset_state_ids",
  "rollout.pipeline_stage_num",
  "actor.model.model_type",
  "actor.model.is_lora",
  "actor.model.lora_rank",
  "actor.model.action_dim",
  "actor.model.num_action_chunks",
];

const unmentioned =
  /^(cluster\.|runner\.(logger\.|resume_dir$|save_interval$|keep_checkpoints$|val_check_interval$|per_worker_log$)|env\.train\.group_size$)|\.(model_path|video_cfg\..*|env_workers|enable_offload|group_name|\w*_timeout)$/;

/** Every setting by its full key. Lists are values. Plugins, wherever they were named, with what was in them. */
export function settingsOf({ plugins: _, ...config }: RunConfig): Settings {
  const plugins = loadedPlugins().map(({ path, sha256 }) => `${path} (sha256 ${sha256})`);
  return Object.fromEntries([...leaves(config, ""), ...(plugins.length > 0 ? [["plugins", plugins]] : [])]);
}

/** Of all that makes a difference to what is learned, the model's path included. */
export function settingsDigest(config: RunConfig): string {
  const counting = Object.entries(settingsOf(config))
    .filter(([key]) => !unmentioned.test(key) || key.endsWith(".model_path"))
    .map(([key, value]) => `${key}=${text(value)}\n`);
  return createHash("sha256").update(counting.sort().join("")).digest("hex");
}

function leaves(value: unknown, path: string): [string, unknown][] {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return value === undefined ? [] : [[path, value]];
  return Object.entries(value).flatMap(([key, inner]) => leaves(inner, path === "" ? key : `${path}.${key}`));
}

export function compareSettings(before: Settings, now: Settings): SettingsChanges {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(now)])].sort();
  const changed = keys
    .filter((key) => text(own(before, key)) !== text(own(now, key)))
    .map((key) => ({ key, before: own(before, key), now: own(now, key) }));
  return {
    refused: changed.filter(({ key }) => refusedKeys.includes(key)),
    said: changed.filter(({ key }) => !refusedKeys.includes(key) && !unmentioned.test(key)),
  };
}

const own = (settings: Settings, key: string): unknown =>
  Object.hasOwn(settings, key) ? settings[key] : undefined;

/** Null and absent mean the same; numbers that JSON does not have are texts in a file. */
const text = (value: unknown): string => {
  if (value === undefined || value === null) return "unset";
  return typeof value === "number" && !Number.isFinite(value) ? "unset" : JSON.stringify(value);
};

export const changeText = ({ key, before, now }: SettingChange): string =>
  `${key}: ${text(before)} before, ${text(now)} now`;
