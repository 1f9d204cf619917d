/**
 * libtorch, from the torch wheel of the Python package index.
 *
 * Without an NVIDIA GPU the first of these that can be had: the CPU build from PyTorch's own index (190 MB), a CPU build
 * that pip finds by the reader's settings, or PyPI's CUDA build (530 MB) used for its CPU half. With a GPU the CUDA build
 * and the NVIDIA wheels that it names. `REVERIE_TORCH_BUILD=cpu|cuda` asks for one of them whatever the machine has;
 * `REVERIE_TORCH=<site-packages>/torch` uses another torch and fetches nothing.
 */
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { SetupFailure, WheelRefused } from "./failure.mjs";
import { sitePackages } from "./folders.mjs";
import { answersQuickly, ensureVenv, installedInfo, installWheels, pipResolve } from "./pip.mjs";
import { hasNvidiaGpu } from "./requirements.mjs";

const version = "2.13.0";
const pin = `torch==${version}`;
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
    if (!isTorchVersion(installedInfo("torch")?.version) || !hasLibrary("torch_cpu")) return false;
    if (hasLibrary("torch_cuda")) return hasCudaLibraries() && askedBuild() !== "cpu";
    return askedBuild() !== "cuda";
  },

  async run({ detail, progress }) {
    await ensureVenv(detail);
    const fetched = { detail, progress };
    const build = askedBuild() ?? (hasNvidiaGpu() ? "cuda" : "cpu");
    return build === "cuda" ? await fetchCudaBuild(fetched) : await fetchCpuBuild(fetched);
  },
};

const isTorchVersion = (found) => found === version || found?.startsWith(`${version}+`) === true;
const hasLibrary = (name) => existsSync(join(torchFolder(), "lib", `lib${name}.so`));
const installedVersion = () => installedInfo("torch")?.version;

/** Without cuBLAS beside it, libtorch_cuda is what an interrupted set-up left. */
const hasCudaLibraries = () =>
  readdirSync(sitePackages()).some((name) => /^nvidia_cublas.*\.dist-info$/.test(name));

function askedBuild() {
  const asked = process.env.REVERIE_TORCH_BUILD || undefined;
  if (asked === undefined || asked === "cpu" || asked === "cuda") return asked;
  throw new SetupFailure(`REVERIE_TORCH_BUILD is "${asked}"; it can be cpu or cuda.`);
}

function checkOwnTorch(folder) {
  if (hasLibrary("torch_cpu") && existsSync(join(folder, "include", "ATen"))) return true;
  throw new SetupFailure(
    `REVERIE_TORCH is ${folder}, which holds no lib/libtorch_cpu.so and include/ATen.\n` +
      'It must be the folder that Python prints for: python3 -c "import torch; print(torch.__path__[0])"',
  );
}

async function fetchCpuBuild(fetched) {
  if (await fetchFromCpuIndex(fetched)) return installedVersion();
  const { requires } = await pipResolve(pin, []);
  if (requires.some((line) => nvidiaPackage.test(line))) return await fetchCpuHalf(requires, fetched);
  fetched.detail(`fetching ${pin}`);
  await installWheels([pin], fetched);
  return `${installedVersion()}, found by pip`;
}

/** From PyTorch's CPU index; false when it, or the server that it sends us to, cannot be reached. */
async function fetchFromCpuIndex({ detail, progress }) {
  detail("asking PyTorch's CPU wheel index");
  if (!answersQuickly(`${cpuIndex}/torch/`)) {
    detail("it does not answer; asking pip's own index");
    return false;
  }
  try {
    detail(`fetching ${pin} from PyTorch's CPU wheel index`);
    await installWheels([pin], { args: ["--index-url", cpuIndex], detail, progress });
    return true;
  } catch (error) {
    if (error instanceof WheelRefused) throw error;
    progress.note(
      "  PyTorch's CPU wheel index answers, but the wheel cannot be had from it; asking pip's own index",
    );
    return false;
  }
}

/** Of the CUDA build, what the CPU half does not need; all but the first two are small, and none could be loaded. */
const cudaHalf = [
  "torch_cuda",
  "torch_cuda_linalg",
  "torch_nvshmem",
  "c10_cuda",
  "caffe2_nvrtc",
  "torch",
  "torch_python",
];

/**
 * PyPI's CUDA build for a machine without a GPU: libtorch_cpu needs two small NVIDIA libraries to be loaded, the CUDA
 * runtime and the profiler; the other half is deleted. torch is unpacked last, so that it counts as there only when they are.
 */
async function fetchCpuHalf(requires, fetched) {
  fetched.progress.note(
    "  PyTorch's CPU wheel index does not answer, and pip finds no CPU build: fetching PyPI's CUDA build\n" +
      "  (530 MB instead of 190 MB) and two NVIDIA libraries (13 MB) that it is linked with; its CUDA half is deleted",
  );
  await installWheels(runtimeRequirements(requires), { ...fetched, dependencies: true });
  await installWheels([pin], fetched);
  for (const name of cudaHalf) rmSync(join(torchFolder(), "lib", `lib${name}.so`), { force: true });
  return `${installedVersion()}, the CPU half of PyPI's CUDA build`;
}

/** The lines of torch's own metadata that name NVIDIA's libraries. */
const nvidiaRequirements = (requires) =>
  requires.filter((line) => nvidiaPackage.test(line) && !/extra ==/.test(line));

/** Those lines, with the headers (crt, cccl) that compiling against CUDA needs and running torch does not. */
export const cudaRequirements = (requires) =>
  nvidiaRequirements(requires).map((line) => line.replace(/^cuda-toolkit\[/, "cuda-toolkit[cccl,crt,"));

/** Those lines narrowed to the CUDA runtime and the profiler. */
export function runtimeRequirements(requires) {
  const lines = nvidiaRequirements(requires);
  const narrowed = lines.map((line) => line.replace(/^cuda-toolkit\[[^\]]*\]/, "cuda-toolkit[cudart,cupti]"));
  return narrowed.filter((line) => /^(cuda-toolkit|nvidia-cuda-(runtime|cupti))\b/.test(line));
}

/** The CUDA build, and first NVIDIA's libraries that its metadata names; its other requirements serve Python only. */
async function fetchCudaBuild(fetched) {
  const { wanted, libraries } = await findCudaBuild(fetched.detail);
  if (libraries.length === 0) {
    const found = `pip finds only the CPU build of ${pin}; set REVERIE_TORCH to a CUDA build to use it`;
    if (askedBuild() === "cuda") throw new SetupFailure(`REVERIE_TORCH_BUILD is cuda, but ${found}.`);
    fetched.progress.advise(`an NVIDIA GPU is here, but ${found}`);
  } else {
    fetched.progress.note(
      "  fetching the CUDA build of torch (530 MB) and NVIDIA's libraries (about 2.0 GB)",
    );
    await installWheels(libraries, { ...fetched, dependencies: true });
  }
  await installWheels([wanted], fetched);
  return installedVersion();
}

/** pip prefers `2.13.0+cpu` to `2.13.0` where both are offered, so the plain version is asked for by its exact name. */
async function findCudaBuild(detail) {
  detail("looking for the CUDA build");
  for (const wanted of [pin, `torch===${version}`]) {
    const { requires } = await pipResolve(wanted, []).catch(() => ({ requires: [] }));
    const libraries = cudaRequirements(requires);
    if (libraries.length > 0) return { wanted, libraries };
  }
  return { wanted: pin, libraries: [] };
}
