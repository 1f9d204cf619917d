/**
 * How the torch addon is compiled and linked: against the CPU build, or the CUDA build with what it carries.
 *
 * CUDA is on when the wheel has libtorch_cuda.so and its headers compile; NCCL when its header does too.
 * The wheel's own libcudart comes first: the addon's direct dependency is the copy that the loader shares with
 * torch by soname. The torch libraries are linked with --no-as-needed because their kernels register themselves
 * when loaded and no symbol of ours refers to them. libtorch.so itself is left out: it only names the others, of the CUDA
 * build also those that are deleted where there is no GPU. Paths inside the checkout are relative to it, in the flags
 * and, by $ORIGIN, in the addon: a checkout that is moved or copied goes on working.
 */
import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { apiHeaders, inCheckout, native, root, runPath } from "./folders.mjs";
import { runProgram } from "./progress.mjs";
import { torchFolder } from "./torch-wheel.mjs";

const cudaProbe = "#include <cuda.h>\n#include <ATen/cuda/CUDAGraph.h>\n";
const ncclProbe =
  "#include <cuda.h>\n#define USE_C10D_NCCL\n#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>\n";

const system = (folder) => ["-isystem", inCheckout(folder)];

export async function torchFlags(compiler) {
  const torch = torchFolder();
  const include = [
    `-I${inCheckout(apiHeaders())}`,
    ...system(join(torch, "include")),
    ...system(join(torch, "include", "torch", "csrc", "api", "include")),
    ...system(join(native, "torch", "gloo_stub")),
  ];
  const flags = { compile: ["-DUSE_DISTRIBUTED", "-DUSE_C10D_GLOO", ...include], note: "CPU" };
  const libraries = ["-ltorch_cpu", "-lc10"];
  const runPaths = [join(torch, "lib")];
  if (existsSync(join(torch, "lib", "libtorch_cuda.so"))) {
    await addCuda(compiler, torch, { flags, libraries, runPaths });
  }
  const link = [
    `-L${inCheckout(join(torch, "lib"))}`,
    "-Wl,--no-as-needed",
    ...libraries,
    "-Wl,--as-needed",
    ...runPaths.map((folder) => `-Wl,-rpath,${runPath(folder)}`),
    "-Wl,--enable-new-dtags",
  ];
  return { compile: flags.compile, link, note: flags.note, warning: flags.warning };
}

async function addCuda(compiler, torch, { flags, libraries, runPaths }) {
  libraries.push("-ltorch_cuda", "-lc10_cuda");
  flags.compile.push(...cudaIncludes(torch).flatMap(system));
  const runtime = findCudaRuntime(torch);
  const headers = runtime !== undefined && (await compiles(compiler, flags.compile, cudaProbe));
  if (!headers) {
    flags.note = "CPU only";
    flags.warning =
      "torch is a CUDA build, but CUDA's headers or libcudart are missing: the GPU cannot be used.\n" +
      "Set CUDA_HOME to an installed CUDA toolkit, or unset REVERIE_TORCH and let set-up fetch what is needed.";
    return;
  }
  libraries.push(inCheckout(runtime));
  runPaths.push(dirname(runtime));
  flags.compile.push("-DREVERIE_CUDA");
  const nccl = await compiles(compiler, flags.compile, ncclProbe);
  if (nccl) flags.compile.push("-DUSE_C10D_NCCL", "-DREVERIE_NCCL");
  flags.note = nccl ? "CUDA, NCCL" : "CUDA";
}

const cudaHome = () => process.env.CUDA_HOME || "/usr/local/cuda";

/** Folders under site-packages/nvidia, one per NVIDIA wheel (cu13, nccl, cudnn, …). */
function nvidiaWheels(torch) {
  const folder = join(dirname(torch), "nvidia");
  return existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
}

function cudaIncludes(torch) {
  const folders = [...nvidiaWheels(torch), cudaHome()].map((folder) => join(folder, "include"));
  return folders.flatMap((folder) => [folder, join(folder, "cccl")]).filter((folder) => existsSync(folder));
}

function findCudaRuntime(torch) {
  const wheels = nvidiaWheels(torch).map((folder) => join(folder, "lib"));
  for (const folder of [...wheels, join(torch, "lib"), join(cudaHome(), "lib64")]) {
    const names = existsSync(folder) ? readdirSync(folder) : [];
    const name = names.find((entry) => /^libcudart.*\.so/.test(entry));
    if (name) return join(folder, name);
  }
  return undefined;
}

/** Whether a few lines of C++ pass the compiler's front end with these flags. */
async function compiles(compiler, flags, text) {
  const script = `printf '%s' "$1" | "$2" -std=c++20 -x c++ -fsyntax-only -w "\${@:3}" -`;
  try {
    await runProgram("bash", ["-c", script, "probe", text, compiler, ...flags], { cwd: root });
    return true;
  } catch {
    return false;
  }
}
