/**
 * A virtual environment with real Python LIBERO, for the reference side of `bench libero`: the packages that RLinf's users
 * have, from PyPI, and LIBERO's assets linked in from the folder that `reverie fetch libero` prepared.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL("../.deps/libero-venv", import.meta.url));

/** What LIBERO imports to simulate; its own list also asks for training packages, which are left out. */
const libraries = [
  "mujoco==3.3.7",
  "numpy==1.26.4",
  "numba",
  "scipy",
  "pillow",
  "opencv-python-headless==4.11.0.86",
  "matplotlib",
  "easydict",
  "pyyaml",
  "filelock",
  "future",
  "networkx",
  "jupytext",
  "pytest",
  "termcolor",
  "gym==0.25.2",
  "PyOpenGL",
];
const simulators = ["robosuite==1.4.1", "rlinf-libero==0.1.3", "bddl==1.0.1"];

export interface LiberoPython {
  readonly python: string;
  readonly environment: NodeJS.ProcessEnv;
}

/** @param assets the prepared folder. */
export function liberoPython(assets: string): LiberoPython {
  const python = join(folder, "bin/python");
  const ready = join(folder, "ready");
  if (!existsSync(ready)) {
    console.error("setting up Python LIBERO for comparison, once …");
    rmSync(folder, { recursive: true, force: true });
    run("python3", ["-m", "venv", folder]);
    run(python, ["-m", "pip", "install", "-q", ...libraries]);
    run(python, ["-m", "pip", "install", "-q", "--no-deps", ...simulators]);
    writeFileSync(ready, "");
  }
  linkAssets(assets);
  const configuration = join(folder, "libero-config");
  mkdirSync(configuration, { recursive: true });
  return {
    python,
    environment: { ...process.env, LIBERO_CONFIG_PATH: configuration, NUMBA_NUM_THREADS: "1" },
  };
}

function linkAssets(assets: string): void {
  const [version = ""] = readdirSync(join(folder, "lib"));
  const target = join(folder, "lib", version, "site-packages/libero/libero/assets");
  rmSync(target, { recursive: true, force: true });
  symlinkSync(join(assets, "libero"), target);
}

function run(command: string, args: readonly string[]): void {
  const { status, stderr } = spawnSync(command, args, {
    stdio: ["ignore", "ignore", "pipe"],
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} failed: ${stderr}`);
}
