/**
 * libmujoco and its headers, from the mujoco wheel of the Python package index.
 *
 * The version is a lock, not a taste: 3.8 moves a LIBERO object by 1.5 mm within ten settle steps.
 * `REVERIE_MUJOCO=<site-packages>/mujoco` uses another copy of the same version and fetches nothing.
 */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { SetupFailure } from "./failure.mjs";
import { sitePackages } from "./folders.mjs";
import { ensureVenv, installedInfo, installWheels, venvVersion } from "./pip.mjs";

const version = "3.3.7";
const newestPython = 13; // this version of MuJoCo has no wheel for Python 3.14; the library inside is the same
export const mujocoLibrary = `libmujoco.so.${version}`;

/** The folder that holds libmujoco and `include/mujoco`. */
export function mujocoFolder() {
  if (process.env.REVERIE_MUJOCO) return resolve(process.env.REVERIE_MUJOCO);
  return join(sitePackages() ?? "", "mujoco");
}

export const mujocoWheel = {
  name: `MuJoCo ${version}`,
  mend: "npm run native",

  isDone() {
    const whole = existsSync(join(mujocoFolder(), mujocoLibrary));
    if (process.env.REVERIE_MUJOCO && !whole) {
      throw new SetupFailure(`REVERIE_MUJOCO is ${mujocoFolder()}, which holds no ${mujocoLibrary}.`);
    }
    return (
      whole && (process.env.REVERIE_MUJOCO !== undefined || installedInfo("mujoco")?.version === version)
    );
  },

  async run({ detail, progress }) {
    await ensureVenv(detail);
    detail(`fetching mujoco==${version}`);
    const [, minor] = venvVersion();
    const foreign = minor > newestPython ? { asPython: `3.${newestPython}` } : {};
    await installWheels([`mujoco==${version}`], { ...foreign, detail, progress });
    return installedInfo("mujoco")?.version;
  },
};
