/** What `reverie train` and `reverie eval` are asked, and where their results go. */
import { existsSync, readdirSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { SearchPath, shippedConfigs } from "#config";
import { UserError } from "#registry";
import { readStarts } from "#simulators";
import type { ReadRunOptions } from "#training";
import type { Command } from "../command.ts";
import { deviceOf, wholeNumber } from "../option-values.ts";

export interface RunArguments {
  readonly config: string;
  readonly configPath: string | undefined;
  /** key=value, ready for the configuration; the log folder among them. */
  readonly overrides: readonly string[];
  readonly folder: string;
  readonly dryRun: boolean;
}

export const runOptions = {
  "dry-run": { type: "boolean", default: false },
  resume: { type: "boolean", default: false },
  out: { type: "string" },
  device: { type: "string" },
  "config-path": { type: "string" },
  model: { type: "string" },
  greedy: { type: "boolean", default: false },
  starts: { type: "string" },
  "starts-per-task": { type: "string" },
} as const;

/** Names of the shipped configurations, for completion. */
export const configNames = (): readonly string[] => new SearchPath([shippedConfigs]).options("");

const logKey = "runner.logger.log_path";

/** @param command whose options are taken: a part of `runOptions`. */
export function parseRunArguments(
  argv: string[],
  { usage, options }: Pick<Command, "usage" | "options">,
  now = new Date(),
): RunArguments {
  const asked = { args: argv, options: runOptions, allowPositionals: true, tokens: true } as const;
  const { values, positionals, tokens } = parseArgs(asked);
  const [config, ...given] = positionals;
  if (config === undefined || /^[~+]|=/.test(config))
    throw new UserError(`which configuration? usage: reverie ${usage}; reverie list configs names them`);
  for (const text of given)
    if (!text.includes("=") && !text.startsWith("~"))
      throw new UserError(`"${text}" is no override: expected key=value (one configuration at a time)`);
  const name = basename(config).replace(/\.ya?ml$/, "");
  const resumes = values.resume || given.some((text) => /^\+*runner\.resume_dir=auto$/.test(text));
  const named = given.find((text) => text.startsWith(`${logKey}=`))?.slice(logKey.length + 1);
  const folder = named ?? values.out ?? (resumes ? newestRun(name) : undefined) ?? newFolder(name, now);
  const starts = startOverrides(values.starts, values["starts-per-task"], usage);
  for (const token of tokens)
    if (token.kind === "option" && !(token.name in options))
      throw new UserError(`${token.rawName} is not an option of reverie ${usage}`);
  return {
    config,
    configPath: values["config-path"],
    folder,
    dryRun: values["dry-run"],
    overrides: [
      ...(named === undefined ? [`${logKey}=${folder}`] : []),
      ...(values.resume ? ["runner.resume_dir=auto"] : []),
      ...deviceOverrides(values.device),
      ...(values.model === undefined ? [] : modelOverrides(values.model)),
      ...starts,
      ...(values.greedy ? ["rollout.sampling_params.do_sample=False"] : []),
      ...given,
    ],
  };
}

/** How `readRun` is asked for this run. */
export const readingOf = ({ overrides, configPath }: RunArguments): ReadRunOptions => ({
  overrides,
  ...(configPath !== undefined && { configPath }),
});

const newFolder = (name: string, now: Date): string => join("logs", `${timeText(now)}-${name}`);

/** 20250131-235959, in local time: what the launcher script writes too. No colons: tar, scp and Windows shares take them for something else. */
function timeText(now: Date): string {
  const two = (value: number): string => String(value).padStart(2, "0");
  const day = `${now.getFullYear()}${two(now.getMonth() + 1)}${two(now.getDate())}`;
  return `${day}-${two(now.getHours())}${two(now.getMinutes())}${two(now.getSeconds())}`;
}

/** Folders of earlier versions had colons in their times. */
const withoutColons = (name: string): string => name.replaceAll(":", "");

/** The newest folder under logs/ that an earlier run of this configuration left. */
function newestRun(name: string): string | undefined {
  if (!existsSync("logs")) return undefined;
  const runs = readdirSync("logs")
    .filter((entry) => entry.endsWith(`-${name}`) && statSync(join("logs", entry)).isDirectory())
    .sort((a, b) => withoutColons(a).localeCompare(withoutColons(b), "en"));
  const newest = runs.at(-1);
  return newest === undefined ? undefined : join("logs", newest);
}

function deviceOverrides(device: string | undefined): string[] {
  if (device === undefined) return [];
  if (device === "cpu") return ["++cluster.simulated_devices=1"];
  if (deviceOf(device) === "cuda") return []; // accelerators are used wherever there are any
  throw new UserError(
    `--device is "${device}"; expected cpu or cuda; cluster.component_placement says which`,
  );
}

/** Of the evaluation's env. The starts that training draws are not for choosing. */
function startOverrides(starts: string | undefined, perTask: string | undefined, usage: string): string[] {
  if (starts === undefined && perTask === undefined) return [];
  if (!usage.startsWith("eval"))
    throw new UserError(
      "--starts belongs to reverie eval; for the evaluations of a run set ++env.eval.starts=fresh",
    );
  const chosen = readStarts(starts ?? "stored");
  if (perTask !== undefined && chosen.kind !== "fresh")
    throw new UserError("--starts-per-task is for --starts fresh: the stored ones are as many as they are");
  return [
    `++env.eval.starts=${chosen.kind === "fresh" ? `"fresh:${chosen.seed}"` : "stored"}`,
    ...(perTask === undefined
      ? []
      : [`++env.eval.starts_per_task=${wholeNumber("--starts-per-task", perTask)}`]),
  ];
}

/** A model folder, a folder of adapters, or a checkpoint of a run. */
function modelOverrides(path: string): string[] {
  const inside = join(path, "actor", "model");
  const folder = existsSync(inside) ? inside : path;
  if (existsSync(join(folder, "adapter_config.json")))
    return ["actor.model.is_lora=True", `++actor.model.lora_path=${folder}`];
  return [`actor.model.model_path=${folder}`, `rollout.model.model_path=${folder}`];
}
