/** The model section of a policy that is given as a folder: what training wrote about it, or what such folders need. */

import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { handsOf } from "#engine";
import { readJsonFile } from "#formats";
import { policies, recognizePolicy } from "#policies";
import { UserError } from "#registry";
import { findSuite } from "#simulators";

/** `sft` leaves `model.json` in its run's folder, above or beside the checkpoints. */
export async function policySection(
  path: string,
  suite: string,
  keys: Readonly<Record<string, unknown>>,
): Promise<Record<string, unknown>> {
  // A run's checkpoint holds the policy's own folder inside.
  const folders = [path, join(path, "actor", "model")].map((each) => resolve(each));
  const folder = folders.find((each) => existsSync(join(each, "config.json")));
  if (folder === undefined) throw new UserError(`${path} is no policy checkpoint: it has no config.json`);
  const written = [folder, dirname(folder)]
    .map((each) => join(each, "model.json"))
    .find((each) => existsSync(each));
  const known: Record<string, unknown> = written ? { ...readJsonFile(written) } : {};
  const model_type = String(keys.model_type ?? known.model_type ?? (await recognizePolicy(folder)));
  const family = await policies.get(model_type);
  const { pack } = findSuite(suite);
  return {
    model_type,
    ...family.sectionFor?.({ pack: pack.name, hands: handsOf(pack), wrists: false }), // worlds show one picture
    ...known,
    ...keys,
    model_path: folder,
  };
}
