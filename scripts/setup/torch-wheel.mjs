/**
 * libtorch, from the torch wheel of the Python package index.
 *
 * Without an NVIDIA GPU the CPU build is taken (about 190 MB): from PyTorch's own CPU index when it answers,
 * else by the plain pin, after making sure that the pin does not resolve to the CUDA build, which cannot even
 * be loaded without gigabytes of NVIDIA wheels. With a GPU the CUDA build and the NVIDIA wheels that it names
 * are taken. `REVERIE_TORCH=<site-packages>/torch` uses another torch and fetches nothing.
 */
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { SetupFailure } from "./failure.mjs";
import { sitePackages } from "./folders.mjs";
import { answersQuickly, ensureVenv, installedInfo, pipInstall, pipResolve } from "./pip.mjs";
import { hasNvidiaGpu } from "./requirements.mjs";

const pin = "torch==2.13.0";
const version = "2.13.0";
const cpuIndex = "https://download.pytorch.org/whl/cpu";
const nvidiaPackage = /^(nvidia-|cuda-toolkit)/;

/** The folder of the torch to build against: the user's own, or the one in `.deps`. */
export function torchFolder() {
  if (process.env.REVERIE_TORCH) return resolve(process.env.REVERIE_TORCH);
  return join(sitePackages() ?? "", "torch");
}

export const torchWheel = {
  name: `libtorch ${version}`,
  mend: "npm run native",

  isDone() {
    if (process.env.REVERIE_TORCH) return checkOwnTorch(torchFolder());
    return isTorchVersion(installedInfo("torch")?.version) && hasLibtorch(torchFolder());
  },

  async run({ detail, progress }) {
    await ensureVenv(detail);
    const gpu = hasNvidiaGpu();
    const args = ["--no-deps", "--force-reinstall", ...(gpu ? [] : await cpuBuildArguments(detail))];
    detail(`fetching ${pin}`);
    await pipInstall([pin], args, detail);
    if (gpu) await installNvidiaLibraries(detail, progress);
    return installedInfo("torch")?.version;
  },
};

const isTorchVersion = (found) => found === version || found?.startsWith(`${version}+`) === true;
const hasLibtorch = (folder) => existsSync(join(folder, "lib", "libtorch.so"));

function checkOwnTorch(folder) {
  if (hasLibtorch(folder) && existsSync(join(folder, "include", "ATen"))) return true;
  throw new SetupFailure(
    `REVERIE_TORCH is ${folder}, which holds no lib/libtorch.so and include/ATen.\n` +
      'It must be the folder that Python prints for: python3 -c "import torch; print(torch.__path__[0])"',
  );
}

/** pip's options for the CPU build; refuses a pin that would bring the CUDA build to a machine without a GPU. */
async function cpuBuildArguments(detail) {
  detail("asking PyTorch's CPU wheel index");
  if (answersQuickly(`${cpuIndex}/torch/`)) return ["--index-url", cpuIndex];
  detail("it does not answer; asking the usual index");
  const { url, requires } = await pipResolve(pin, []);
  if (!requires.some((line) => nvidiaPackage.test(line))) return [];
  throw new SetupFailure(
    `This machine has no NVIDIA GPU, PyTorch's CPU wheel index (${cpuIndex}) does not answer, and ${pin}\n` +
      `would bring the CUDA build (${url}),\n` +
      "which does not load without gigabytes of NVIDIA libraries. Either let this machine reach that index,\n" +
      "or put a CPU wheel where pip finds it (PIP_FIND_LINKS=<folder>), or set REVERIE_TORCH to an installed torch.",
  );
}

/** The CUDA libraries that torch's metadata names; the rest of its requirements serve Python only. */
async function installNvidiaLibraries(detail, progress) {
  const metadata = readFileSync(join(installedInfo("torch").folder, "METADATA"), "utf8");
  const requirements = [...metadata.matchAll(/^Requires-Dist: (.*)$/gm)].map(([, line]) => line);
  const libraries = requirements.filter((line) => nvidiaPackage.test(line) && !/extra ==/.test(line));
  if (libraries.length === 0) {
    progress.advise(
      `an NVIDIA GPU is here, but pip found the CPU build of ${pin}; set REVERIE_TORCH to a CUDA build to use it`,
    );
    return;
  }
  await pipInstall(libraries, [], detail);
}
