/** What the `world` commands are asked: each takes the options that it obeys, checked before anything is read. */
import { parseArgs } from "node:util";
import { UserError } from "#registry";
import type { Device } from "#tensor";
import { usualFamily } from "#world-training";
import type { OptionTable } from "../command.ts";
import { deviceOf, keyValues } from "../option-values.ts";

export interface WorldArguments {
  readonly data: readonly string[];
  /** Recordings that are only measured on. */
  readonly exam: readonly string[];
  readonly world: string;
  readonly device: Device;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly resume: boolean;
  readonly family: string;
  /** Seconds that training may take. */
  readonly timeLimit: number | undefined;
  readonly policy: string | undefined;
  readonly suite: string | undefined;
  readonly modelKeys: Readonly<Record<string, unknown>>;
  readonly out: string | undefined;
}

const text = { type: "string" } as const;
const several = { type: "string", multiple: true } as const;

/** Of all but `collect`. */
export const sharedOptions = {
  data: several,
  world: text,
  device: { type: "string", default: "cpu" },
  set: several,
} as const;

/** Of those that train one part of a world. */
export const trainingOptions = {
  ...sharedOptions,
  seed: text,
  steps: text,
  batch: text,
  lr: text,
  minutes: text,
  resume: { type: "boolean", default: false },
  family: { type: "string", default: usualFamily },
} as const;

export const refreshOptions = {
  ...sharedOptions,
  seed: text,
  exam: several,
  steps: text,
  batch: text,
  lr: text,
} as const;
export const evaluationOptions = {
  ...sharedOptions,
  seed: text,
  policy: text,
  suite: text,
  "model-set": several,
  out: text,
} as const;

const all = { ...trainingOptions, ...refreshOptions, ...evaluationOptions } as const;
type Values = ReturnType<typeof parseArgs<{ options: typeof all }>>["values"];

/** @param options a part of all that there are: those of one command. */
export function parseWorldArguments(argv: string[], options: OptionTable): WorldArguments {
  const values = parseArgs({ args: argv, options }).values as Partial<Values>;
  const { data = [], world, policy, suite, out } = values;
  if (data.length === 0 && policy === undefined)
    throw new UserError("which recordings? give --data DIR (made by reverie world collect)");
  if (world === undefined)
    throw new UserError("which world? give --world DIR: the folder to make or to read");
  return {
    data,
    exam: values.exam ?? [],
    world,
    device: deviceOf(values.device ?? "cpu"),
    settings: settingsOf(values),
    resume: values.resume ?? false,
    family: values.family ?? usualFamily,
    timeLimit: minutesOf(values.minutes),
    policy,
    suite,
    modelKeys: keyValues("--model-set", values["model-set"] ?? []),
    out,
  };
}

/** --steps, --batch, --lr and --seed are settings with options of their own. */
function settingsOf({ steps, batch, lr, seed, set = [] }: Partial<Values>): Record<string, unknown> {
  const given = Object.entries({ steps, batch_size: batch, lr, seed }).filter(
    ([, value]) => value !== undefined,
  );
  return {
    ...Object.fromEntries(given.map(([key, value]) => [key, Number(value)])),
    ...keyValues("--set", set),
  };
}

function minutesOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const minutes = Number(text);
  if (Number.isFinite(minutes) && minutes > 0) return 60 * minutes;
  throw new UserError(`--minutes takes a number above zero, not "${text}"`);
}
