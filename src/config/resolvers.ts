/** The functions that an interpolation may call: OmegaConf's own and those that RLinf registers. */
import { ownEntry, UserError } from "#registry";
import {
  type ConfigNode,
  fromPlain,
  type Origin,
  type Plain,
  plain,
  scalar,
  shortText,
  valueText,
} from "./tree.ts";
import { parseValue } from "./value-grammar.ts";

export interface ResolverContext {
  readonly origin: Origin;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Looks a path up in the whole tree, resolved; undefined when it is not there. */
  readonly select: (path: string) => ConfigNode | undefined;
}

export type Resolver = (args: readonly ConfigNode[], context: ResolverContext) => ConfigNode;

const dtypes: Readonly<Record<string, string>> = {
  bf16: "bfloat16",
  fp16: "float16",
  half: "float16",
  fp32: "float32",
};

export const resolvers: Readonly<Record<string, Resolver>> = {
  "oc.env": readEnvironment,
  "oc.select": ([path, fallback], { origin, select }) =>
    select(textOf(path)) ?? fallback ?? scalar(null, origin),
  "oc.decode": ([text], { origin }) =>
    isNull(text) ? scalar(null, origin) : parseValue(textOf(text), origin),
  "oc.create": ([value], { origin }) => value ?? scalar(null, origin),
  "oc.deprecated": ([path], { select, origin }) => select(textOf(path)) ?? scalar(null, origin),
  "oc.dict.keys": ([path], context) => listOf(context, textOf(path), ([key]) => key),
  "oc.dict.values": ([path], context) => listOf(context, textOf(path), ([, value]) => value),
  multiply: arithmetic((a, b) => a * b),
  int_div: arithmetic((a, b) => Math.floor(a / b)),
  subtract: arithmetic((a, b) => a - b),
  not: ([value], { origin }) => scalar(!(value && plain(value)), origin),
  "torch.dtype": ([name], { origin }) =>
    scalar(ownEntry(dtypes, textOf(name)) ?? textOf(name).replace(/^torch\./, ""), origin),
  now: ([format], { origin }) => scalar(timeText(textOf(format), new Date()), origin),
};

function readEnvironment(args: readonly ConfigNode[], { origin, environment }: ResolverContext): ConfigNode {
  const [name, fallback] = args;
  const value = ownEntry(environment, textOf(name));
  if (value !== undefined) return scalar(value, origin);
  if (fallback) return isNull(fallback) ? fallback : scalar(textOf(fallback), origin);
  throw new UserError(
    `the environment variable ${shortText(textOf(name))} is not set, and there is no default after a comma`,
  );
}

function arithmetic(compute: (a: number, b: number) => number): Resolver {
  return (args, { origin }) => {
    const [a = Number.NaN, b = Number.NaN] = args.map((arg) => {
      const value = plain(arg);
      return typeof value === "number" ? value : Number.NaN;
    });
    if (args.length !== 2 || Number.isNaN(a) || Number.isNaN(b)) {
      throw new UserError(
        `needs two numbers, got (${shortText(args.map((arg) => valueText(plain(arg))).join(", "))})`,
      );
    }
    const result = compute(a, b);
    if (!Number.isFinite(result)) throw new UserError(`has no finite result for (${a}, ${b})`);
    return scalar(result, origin);
  };
}

function listOf(context: ResolverContext, path: string, pick: (entry: [string, Plain]) => Plain): ConfigNode {
  const found = context.select(path);
  if (found?.kind !== "map") throw new UserError(`"${shortText(path)}" is not a map of the configuration`);
  return fromPlain(Object.entries(plain(found) as Record<string, Plain>).map(pick), context.origin);
}

function textOf(node: ConfigNode | undefined): string {
  if (node?.kind !== "scalar") throw new UserError("needs a plain argument");
  return String(node.value);
}

function isNull(node: ConfigNode | undefined): boolean {
  return node?.kind === "scalar" && node.value === null;
}

/** Hydra's ${now:%Y-%m-%d}, with the common strftime letters. */
function timeText(format: string, time: Date): string {
  const two = (value: number) => String(value).padStart(2, "0");
  const letters: Readonly<Record<string, string>> = {
    Y: String(time.getFullYear()),
    m: two(time.getMonth() + 1),
    d: two(time.getDate()),
    H: two(time.getHours()),
    M: two(time.getMinutes()),
    S: two(time.getSeconds()),
    "%": "%",
  };
  return format.replace(/%([YmdHMS%])/g, (_, letter: string) => letters[letter] ?? "");
}
