/** Finds LIBERO's files in the layout that `reverie fetch libero` prepares, or prepares them. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { UserError } from "#registry";
import { liberoFolder, prepareLibero } from "#simulators";
import { sharedFolder } from "../../shared.ts";

const own = fileURLToPath(new URL("../../../.deps/libero", import.meta.url));
const isPrepared = (folder: string): boolean => existsSync(join(folder, "manifest.json"));

/** `given` is a prepared folder, or a folder or archive with LIBERO's objects and scenes. */
export async function preparedAssets(given: string | undefined): Promise<string> {
  if (given !== undefined) {
    if (!existsSync(given)) throw new UserError(`there is no ${given}`);
    if (isPrepared(given)) return given;
    await prepareLibero({ folder: own, from: given });
    return own;
  }
  if (isPrepared(liberoFolder())) return liberoFolder();
  const shared = sharedFolder();
  if (shared === undefined)
    throw new UserError("LIBERO's files are missing: run `reverie fetch libero`, or give --assets");
  await prepareLibero({ folder: own, from: join(shared, "libero-assets.tar.xz") });
  return own;
}
