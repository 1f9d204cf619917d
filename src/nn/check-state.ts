/** Compares a module's names and shapes with those of a checkpoint, and says precisely what does not fit. */
import { UserError } from "#registry";
import type { Tensor } from "#tensor";

interface CheckOptions {
  readonly strict: boolean;
  readonly source: string;
  readonly prefix: string;
}

/** At most so many names of a kind are listed; the rest is counted. */
const listed = 8;

function list(kind: string, items: readonly string[]): string[] {
  if (items.length === 0) return [];
  const more = items.length > listed ? [`    … and ${items.length - listed} more`] : [];
  return [`  ${items.length} ${kind}:`, ...items.slice(0, listed).map((item) => `    ${item}`), ...more];
}

const sameShape = (a: readonly number[], b: readonly number[]) =>
  a.length === b.length && a.every((n, i) => n === b[i]);

export function checkState(
  ours: ReadonlyMap<string, Tensor>,
  given: ReadonlyMap<string, Tensor>,
  { strict, source, prefix }: CheckOptions,
): void {
  const missing = [...ours.keys()].filter((name) => !given.has(name));
  const extra = [...given.keys()].filter((name) => !ours.has(name));
  const misshapen: string[] = [];
  for (const [name, value] of given) {
    const parameter = ours.get(name);
    if (!parameter) continue;
    const [expected, found] = [parameter.shape, value.shape];
    if (!sameShape(expected, found))
      misshapen.push(`${prefix}${name}: expected [${expected}], found [${found}]`);
  }
  if (misshapen.length === 0 && (!strict || (missing.length === 0 && extra.length === 0))) return;
  const withPrefix = (names: string[]) => names.map((name) => prefix + name);
  throw new UserError(
    [
      `${source} does not fit this model:`,
      ...(strict ? list("keys are missing", withPrefix(missing)) : []),
      ...(strict ? list("keys are not expected", withPrefix(extra)) : []),
      ...list("keys have another shape", misshapen),
      "check that the checkpoint and its config.json belong together",
    ].join("\n"),
  );
}
