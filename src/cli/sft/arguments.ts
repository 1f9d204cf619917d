/** What `reverie sft` is asked: options checked before anything is read. */
import { parseArgs } from "node:util";
import { UserError } from "#registry";
import { type SftSettings, sftSettings } from "#sft";
import type { Device, DType } from "#tensor";
import { checked, deviceOf, keyValues, wholeNumber } from "../option-values.ts";

export const sftUsage =
  "sft --data DIR… --out DIR (--new mini | --model DIR) [--steps 900] [--batch 512] [--lr 1e-3] [--seed 0] " +
  "[--device cpu|cuda] [--checkpoint-every 75] [--resume] [--set KEY=VALUE…] [--model-set KEY=VALUE…]";

export interface SftArguments {
  readonly data: readonly string[];
  readonly out: string;
  /** A small untrained policy to begin with, or a checkpoint folder. */
  readonly fresh: string | undefined;
  readonly model: string | undefined;
  readonly settings: SftSettings;
  /** Keys of the config's model section, and of the new model's sizes. */
  readonly modelKeys: Readonly<Record<string, unknown>>;
  readonly device: Device;
  readonly precision: string;
  /** The checkpoints' type on disk. */
  readonly storedAs: DType | undefined;
  readonly checkpointEvery: number;
  readonly reportEvery: number;
  readonly resume: boolean;
}

export const sftOptions = {
  data: { type: "string", multiple: true },
  out: { type: "string" },
  new: { type: "string" },
  model: { type: "string" },
  steps: { type: "string" },
  batch: { type: "string" },
  lr: { type: "string" },
  seed: { type: "string" },
  set: { type: "string", multiple: true },
  "model-set": { type: "string", multiple: true },
  device: { type: "string", default: "cpu" },
  precision: { type: "string", default: "fp32" },
  store: { type: "string", default: "bfloat16" },
  "checkpoint-every": { type: "string", default: "75" },
  "report-every": { type: "string", default: "10" },
  resume: { type: "boolean", default: false },
} as const;

export function parseSftArguments(argv: string[]): SftArguments {
  const { values, positionals } = parseArgs({ args: argv, options: sftOptions, allowPositionals: true });
  const data = [...(values.data ?? []), ...positionals];
  if (data.length === 0) throw new UserError(`which demonstrations? usage: reverie ${sftUsage}`);
  if (values.out === undefined) throw new UserError("where to? give --out DIR");
  if (!values.resume && (values.new === undefined) === (values.model === undefined)) {
    throw new UserError("begin with either --new mini or --model DIR");
  }
  return {
    data,
    out: values.out,
    fresh: values.new,
    model: values.model,
    settings: settingsOf(values),
    modelKeys: keyValues("--model-set", values["model-set"] ?? []),
    device: deviceOf(values.device),
    precision: values.precision,
    storedAs: values.store === "same" ? undefined : storedOf(values.store),
    checkpointEvery: wholeNumber("--checkpoint-every", values["checkpoint-every"]),
    reportEvery: wholeNumber("--report-every", values["report-every"]),
    resume: values.resume,
  };
}

function settingsOf(values: Readonly<Record<string, unknown>>): SftSettings {
  const named = { steps: values.steps, batch_size: values.batch, lr: values.lr, seed: values.seed };
  const given = Object.entries(named).filter(([, value]) => value !== undefined);
  const numbers = Object.fromEntries(
    given.map(([key, value]) => [key, Number.isNaN(Number(value)) ? value : Number(value)]),
  );
  const extra = keyValues("--set", (values.set as string[] | undefined) ?? []);
  return checked(sftSettings, { ...numbers, ...extra });
}

function storedOf(name: string): DType {
  const types: readonly string[] = ["bfloat16", "float16", "float32"];
  if (types.includes(name)) return name as DType;
  throw new UserError(`--store is "${name}"; expected ${types.join(", ")} or same`);
}
