/** What the `world` commands are asked: shared options, checked before anything is read. */
import { parseArgs } from "node:util";
import { UserError } from "#registry";
import type { Device } from "#tensor";
import { deviceOf, keyValues } from "../option-values.ts";

export interface WorldArguments {
  readonly data: readonly string[];
  /** Recordings that are only measured on. */
  readonly exam: readonly string[];
  readonly world: string;
  readonly device: Device;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly resume: boolean;
  readonly family: "opensora" | "wan" | "evac";
  /** Seconds that training may take. */
  readonly timeLimit: number | undefined;
  readonly policy: string | undefined;
  readonly suite: string | undefined;
  readonly modelKeys: Readonly<Record<string, unknown>>;
  readonly out: string | undefined;
}

const options = {
  data: { type: "string", multiple: true },
  exam: { type: "string", multiple: true },
  world: { type: "string" },
  device: { type: "string", default: "cpu" },
  steps: { type: "string" },
  batch: { type: "string" },
  lr: { type: "string" },
  seed: { type: "string" },
  minutes: { type: "string" },
  set: { type: "string", multiple: true },
  resume: { type: "boolean", default: false },
  family: { type: "string", default: "opensora" },
  policy: { type: "string" },
  suite: { type: "string" },
  "model-set": { type: "string", multiple: true },
  out: { type: "string" },
} as const;

export const sharedUsage =
  "--data DIR… --world DIR [--family opensora|wan|evac] [--device cpu|cuda] [--steps N] [--batch N] [--lr X] [--seed N] [--minutes M] [--set KEY=VALUE…] [--resume]";

export function parseWorldArguments(argv: string[]): WorldArguments {
  const { values } = parseArgs({ args: argv, options });
  const { data = [], world, device, policy, suite, out, resume } = values;
  if (data.length === 0 && policy === undefined)
    throw new UserError("which recordings? give --data DIR (made by reverie world collect)");
  if (world === undefined)
    throw new UserError("which world? give --world DIR: the folder to make or to read");
  const named = { steps: values.steps, batch_size: values.batch, lr: values.lr, seed: values.seed };
  const given = Object.entries(named).filter(([, value]) => value !== undefined);
  const settings = {
    ...Object.fromEntries(given.map(([key, value]) => [key, Number(value)])),
    ...keyValues("--set", values.set ?? []),
  };
  return {
    data,
    exam: values.exam ?? [],
    world,
    device: deviceOf(device),
    settings,
    resume,
    family: familyOf(values.family),
    timeLimit: minutesOf(values.minutes),
    policy,
    suite,
    modelKeys: keyValues("--model-set", values["model-set"] ?? []),
    out,
  };
}

function familyOf(name: string): WorldArguments["family"] {
  if (name === "opensora" || name === "wan" || name === "evac") return name;
  throw new UserError(`--family is "${name}"; worlds of these can be trained: opensora, wan, evac`);
}

function minutesOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const minutes = Number(text);
  if (Number.isFinite(minutes) && minutes > 0) return 60 * minutes;
  throw new UserError(`--minutes takes a number above zero, not "${text}"`);
}
