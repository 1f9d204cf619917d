/** What the `world` commands are asked: shared options, checked before anything is read. */
import { parseArgs } from "node:util";
import { z } from "zod";
import { UserError } from "#registry";
import type { Device } from "#tensor";

export interface WorldArguments {
  readonly data: readonly string[];
  readonly world: string;
  readonly device: Device;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly resume: boolean;
}

const options = {
  data: { type: "string", multiple: true },
  world: { type: "string" },
  device: { type: "string", default: "cpu" },
  steps: { type: "string" },
  batch: { type: "string" },
  lr: { type: "string" },
  seed: { type: "string" },
  set: { type: "string", multiple: true },
  resume: { type: "boolean", default: false },
} as const;

export const sharedUsage =
  "--data DIR… --world DIR [--device cpu|cuda] [--steps N] [--batch N] [--lr X] [--seed N] [--set KEY=VALUE…] [--resume]";

export function parseWorldArguments(argv: string[]): WorldArguments {
  const { values } = parseArgs({ args: argv, options });
  const { data = [], world, device } = values;
  if (data.length === 0)
    throw new UserError(`which recordings? give --data DIR (made by reverie world collect)`);
  if (world === undefined)
    throw new UserError("which world? give --world DIR: the folder to make or to read");
  if (!/^(cpu|cuda(:\d+)?)$/.test(device))
    throw new UserError(`--device is "${device}"; expected cpu, cuda or cuda:1`);
  const named = { steps: values.steps, batch_size: values.batch, lr: values.lr, seed: values.seed };
  const given = Object.entries(named).filter(([, value]) => value !== undefined);
  const settings = {
    ...Object.fromEntries(given.map(([key, value]) => [key, Number(value)])),
    ...pairs(values.set ?? []),
  };
  return { data, world, device: device as Device, settings, resume: values.resume };
}

/** KEY=VALUE; a value is JSON where it can be read so, else text. */
export function pairs(given: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    given.map((pair) => {
      const at = pair.indexOf("=");
      if (at < 1) throw new UserError(`--set ${pair}: expected KEY=VALUE`);
      return [pair.slice(0, at), readValue(pair.slice(at + 1))];
    }),
  );
}

function readValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export function checked<S extends z.ZodType>(
  schema: S,
  settings: Readonly<Record<string, unknown>>,
): z.infer<S> {
  const parsed = schema.safeParse(settings);
  if (parsed.success) return parsed.data;
  throw new UserError(`these settings do not fit:\n${z.prettifyError(parsed.error)}`);
}
