/** The files of a pack that ships in the repository: found in its folder, stored starts read once. */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { UserError } from "#registry";
import { readBddl } from "./bddl.ts";
import type { AssetPack, InitStates } from "./pack.ts";
import { readRestingStarts } from "./resting-starts.ts";

/** @param folder with a slash at its end. */
export function shippedAssets(packName: string, folder: URL): Pick<AssetPack, "resolve" | "readInitStates"> {
  const states = new Map<string, InitStates>();
  const resolve = (file: string): string => {
    const path = fileURLToPath(new URL(file, folder));
    if (existsSync(path)) return path;
    throw new UserError(
      `the ${packName} pack has no file ${file}; the checkout is incomplete: restore it with git`,
    );
  };
  return {
    resolve,
    readInitStates({ bddl, initStates }) {
      const known = states.get(initStates);
      if (known) return known;
      const { objects } = readBddl(resolve(bddl));
      const found = readRestingStarts(resolve(initStates), objects.length);
      states.set(initStates, found);
      return found;
    },
  };
}
