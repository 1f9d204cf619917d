/** What a description on disk says of some keys; those that it lacks are left out. */
import { readJsonFile } from "#formats";

export function writtenKeys(path: string, keys: readonly string[]): Record<string, unknown> {
  const written = readJsonFile(path);
  return Object.fromEntries(
    keys.flatMap((key) => (Object.hasOwn(written, key) ? [[key, written[key]]] : [])),
  );
}
