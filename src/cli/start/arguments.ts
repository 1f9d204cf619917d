/** What `reverie start` is asked, and what it remembers of it in its folder, so that it can go on after an interruption. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { z } from "zod";
import { readJsonFile, writeJsonFile } from "#formats";
import { UserError } from "#registry";
import { parseRunArguments, runOptions } from "../run/arguments.ts";

/** `start.json`: the job's settings and how far it is. */
const jobFile = z.strictObject({
  config: z.string(),
  config_path: z.string().nullable(),
  overrides: z.array(z.string()),
  control: z.boolean(),
  minutes: z.number().min(0),
  seconds: z.number().describe("spent in earlier calls"),
  trained: z
    .strictObject({ steps: z.int(), planned_steps: z.int(), ended_by: z.enum(["steps", "time"]) })
    .nullable()
    .describe("set when the training is over"),
  share_of_starts: z
    .number()
    .positive()
    .max(1)
    .default(1)
    .describe("of every task, that the evaluations play; below 1 where there was no time for all"),
});
export type JobState = z.infer<typeof jobFile>;

export interface Job {
  readonly folder: string;
  readonly state: JobState;
  readonly resumed: boolean;
}

export const jobOptions = {
  seed: { type: "string" },
  minutes: { type: "string" },
  control: { type: "boolean", default: false },
  resume: { type: "boolean", default: false },
  out: { type: "string" },
  device: { type: "string" },
  "config-path": { type: "string" },
} as const;

const defaultConfig = "quickstart";
const defaultMinutes = 10;

export function parseJob(argv: string[], usage: string): Job {
  const { values, positionals } = parseArgs({ args: argv, options: jobOptions, allowPositionals: true });
  const named = positionals[0] !== undefined && !/^[~+]|=/.test(positionals[0]);
  const config = named ? (positionals[0] as string) : defaultConfig;
  const given = named ? positionals.slice(1) : positionals;
  const passed = (["out", "device", "config-path"] as const).flatMap((name) =>
    values[name] === undefined ? [] : [`--${name}`, values[name]],
  );
  const resume = values.resume ? ["--resume"] : [];
  const { folder, overrides } = parseRunArguments([config, ...given, ...passed, ...resume], {
    usage,
    options: runOptions,
  });
  const minutes = numberOf(values.minutes, "--minutes", { least: 0, whole: false });
  if (values.resume) return resumedJob(folder, minutes);
  const seed = numberOf(values.seed, "--seed", { least: 0, whole: true });
  const state: JobState = {
    config,
    config_path: values["config-path"] ?? null,
    overrides: [
      ...overrides.filter((text) => !text.startsWith("runner.logger.log_path=")),
      ...(seed === undefined ? [] : [`runner.seed=${seed}`]),
      ...(values.control ? ["algorithm.shuffle_advantages=True"] : []),
    ],
    control: values.control,
    minutes: minutes ?? defaultMinutes,
    seconds: 0,
    trained: null,
    share_of_starts: 1,
  };
  return { folder, state, resumed: false };
}

const stateFile = (folder: string): string => join(folder, "start.json");

/** A new job gets a folder of its own: with another's results in it, it would report those. */
export function requireUnused({ folder, resumed }: Job): void {
  const found = ["start.json", "metrics.jsonl", "run.json", "results.json"].find((name) =>
    existsSync(join(folder, name)),
  );
  if (resumed || found === undefined) return;
  throw new UserError(
    `${folder} already holds a job or a run (${found}), and a new job would mix with it\n` +
      `  to go on with that job:  npx reverie start --resume --out ${folder}\n` +
      "  to begin a new job:      give another --out (or leave it out: logs/<time>-quickstart)",
  );
}

export function keepJob({ folder }: Pick<Job, "folder">, state: JobState): void {
  writeJsonFile(stateFile(folder), state);
}

/** Settings are those the job began with; only its time may be given anew. */
function resumedJob(folder: string, minutes: number | undefined): Job {
  const path = stateFile(folder);
  if (!existsSync(path))
    throw new UserError(`nothing to resume: there is no ${path}; name the job's folder with --out`);
  const parsed = jobFile.safeParse(readJsonFile(path));
  if (!parsed.success) throw new UserError(`${path} is not that of a job: ${z.prettifyError(parsed.error)}`);
  const state = minutes === undefined ? parsed.data : { ...parsed.data, minutes };
  return { folder, state, resumed: true };
}

function numberOf(
  text: string | undefined,
  name: string,
  { least, whole }: { readonly least: number; readonly whole: boolean },
): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (
    text.trim() !== "" &&
    value >= least &&
    Number.isFinite(value) &&
    (!whole || Number.isSafeInteger(value))
  )
    return value;
  throw new UserError(`${name} is "${text}"; expected a ${whole ? "whole " : ""}number from ${least} on`);
}
