/**
 * Mesa's software renderers, so that cameras work on a machine without a GPU.
 *
 * MuJoCo draws through EGL (a vendor's driver or Mesa) or OSMesa, opened at run time; one of them is enough.
 * As root we fetch them with apt; otherwise we print the command and go on, since everything but cameras works.
 * A failed attempt is remembered for a day, so that a machine without a network is not slowed down each time.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { deps } from "./folders.mjs";
import { runProgram } from "./progress.mjs";

const needed = ["libegl1", "libegl-mesa0", "libgl1", "libgl1-mesa-dri"];
const optional = "libosmesa6"; // left out of the newest Ubuntu
const failedBefore = join(deps, "mesa-failed");
const oneDay = 24 * 3600 * 1000;

/** All of them, for the Dockerfile's test. */
export const mesaPackages = [...needed, optional];

export const mesaCommand = `apt-get install -y --no-install-recommends ${needed.join(" ")}`;

export const mesa = {
  name: "Mesa renderers (EGL, OSMesa)",
  mend: mesaCommand,
  optional: true,

  isDone() {
    if (hasRenderer()) return true;
    return existsSync(failedBefore) && Date.now() - statSync(failedBefore).mtimeMs < oneDay;
  },

  isPresent: () => hasRenderer(),

  async run({ detail, progress }) {
    if (process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get")) {
      progress.advise(`cameras need a renderer; to have one run: sudo ${mesaCommand}`);
      return "left to you";
    }
    try {
      return await installWithApt(detail);
    } catch (error) {
      mkdirSync(deps, { recursive: true });
      writeFileSync(failedBefore, String(error.message));
      progress.advise(`apt could not install them; cameras will not work until this does: ${mesaCommand}`);
      return "failed; going on without cameras";
    }
  },
};

async function installWithApt(detail) {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const network = [
    "-o",
    "Acquire::Retries=1",
    "-o",
    "Acquire::http::Timeout=20",
    "-o",
    "DPkg::Lock::Timeout=120",
  ];
  detail("apt-get update");
  await runProgram("apt-get", ["update", "-q", ...network], { env });
  const packages = isKnownToApt(optional) ? [...needed, optional] : needed;
  detail(`apt-get install ${packages.join(" ")}`);
  await runProgram("apt-get", ["install", "-y", "-q", "--no-install-recommends", ...network, ...packages], {
    env,
  });
  rmSync(failedBefore, { force: true });
  return packages.join(" ");
}

function isKnownToApt(name) {
  const answer = spawnSync("apt-cache", ["policy", name], { encoding: "utf8" });
  return answer.status === 0 && /Candidate: (?!\(none\))/.test(answer.stdout);
}

/** EGL's loader with any vendor behind it, or OSMesa; looked for by file name, which costs no process. */
function hasRenderer() {
  const names = libraryFolders().flatMap((folder) => (existsSync(folder) ? readdirSync(folder) : []));
  const has = (prefix) => names.some((name) => name.startsWith(prefix));
  const egl = has("libEGL.so.1") && has("libGL.so.1") && (has("libEGL_mesa.so") || has("libEGL_nvidia.so"));
  return egl || has("libOSMesa.so");
}

function libraryFolders() {
  const triplet = process.arch === "arm64" ? "aarch64-linux-gnu" : "x86_64-linux-gnu";
  const own = (process.env.LD_LIBRARY_PATH ?? "").split(":").filter(Boolean);
  return [...own, `/usr/lib/${triplet}`, "/usr/lib64", "/usr/lib", "/usr/local/lib"];
}
