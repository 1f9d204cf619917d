/**
 * Checks once more without the overrides that were wrong, so that their mistakes hide no others.
 *
 * Rules between settings need a configuration whose every value has the right kind: with `lr=abc` there is none, and the number of
 * environments would be found wrong only at the second attempt.
 */
import { UserError } from "#registry";
import { parseOverride } from "./override.ts";
import { ConfigErrors, type Problem, refuseErrors } from "./problem.ts";

export async function sayingAll<T>(
  what: string,
  overrides: readonly string[],
  check: (overrides: readonly string[]) => Promise<T>,
): Promise<T> {
  try {
    return await check(overrides);
  } catch (error) {
    if (!(error instanceof ConfigErrors)) throw error;
    const sound = overrides.filter((text) => !isBlamed(text, error.errors));
    if (sound.length < overrides.length) {
      const others = await errorsOf(check(sound));
      const known = new Set(error.errors.map(({ path }) => path));
      refuseErrors([...error.errors, ...others.filter(({ path }) => !known.has(path))], what);
    }
    throw error;
  }
}

function isBlamed(override: string, errors: readonly Problem[]): boolean {
  const { key } = parseOverride(override);
  return errors.some(({ path }) => path === key || path.startsWith(`${key}.`));
}

async function errorsOf(checking: Promise<unknown>): Promise<readonly Problem[]> {
  try {
    await checking;
  } catch (error) {
    if (error instanceof ConfigErrors) return error.errors;
    if (!(error instanceof UserError)) throw error; // what is missing now was in an override that was left out
  }
  return [];
}
