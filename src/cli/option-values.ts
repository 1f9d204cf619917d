/** What the values of options mean, the same for every command: devices, whole numbers, KEY=VALUE pairs. */
import { z } from "zod";
import { nearest, UserError } from "#registry";
import { cudaAvailable, type Device } from "#tensor";

export function deviceOf(name: string): Device {
  if (!/^(cpu|cuda(:\d+)?)$/.test(name))
    throw new UserError(`--device is "${name}"; expected cpu, cuda or cuda:1`);
  if (name !== "cpu" && !cudaAvailable())
    throw new UserError(
      `--device ${name}: no GPU answers here, or this build has no CUDA; reverie doctor says more`,
    );
  return name as Device;
}

export function wholeNumber(option: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new UserError(`${option} takes a whole number above zero, not "${text}"`);
}

/** KEY=VALUE pairs; a value is read as JSON where it is JSON, else as text. */
export function keyValues(option: string, pairs: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf("=");
      if (at < 1) throw new UserError(`${option} ${pair}: expected KEY=VALUE`);
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

/** The settings, if the schema takes them. */
export function checked<S extends z.ZodType>(
  schema: S,
  settings: Readonly<Record<string, unknown>>,
): z.infer<S> {
  const parsed = schema.safeParse(settings);
  if (parsed.success) return parsed.data;
  throw new UserError(`these settings do not fit:\n  ${settingFaults(schema, settings).join("\n  ")}`);
}

/** What a schema has against settings, one sentence each. */
export function settingFaults(schema: z.ZodType, settings: Readonly<Record<string, unknown>>): string[] {
  const { error } = schema.safeParse(settings);
  const known = schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
  return error?.issues.map((issue) => settingFault(issue, settings, known)) ?? [];
}

/** What is wrong with one setting: what was found and what was expected. */
function settingFault(issue: z.core.$ZodIssue, settings: object, known: readonly string[]): string {
  if (issue.code === "unrecognized_keys")
    return issue.keys.map((key) => unknownSetting(key, known)).join("\n  ");
  const [key = ""] = issue.path.map(String);
  const found = JSON.stringify((settings as Record<string, unknown>)[key]);
  const expected = issue.message
    .replace(/^(Invalid input|Invalid option|Too small|Too big): /, "")
    .replace(/, received .*$/, "");
  return `${issue.path.join(".")}: ${expected}, found ${found}`;
}

function unknownSetting(key: string, known: readonly string[]): string {
  const guess = nearest(key, known);
  return `${key}: no such setting; ${guess ? `did you mean ${guess}?` : `there are: ${known.join(", ")}`}`;
}
