/** Which libtorch is fetched: pip's choice of small wheels in a folder stands for PyPI, and no network is asked. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { type SmallWheel, writeWheel } from "./small-wheel.ts";

const folder = mkdtempSync(join(tmpdir(), "reverie-torch-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const library = (name: string) => `torch/lib/lib${name}.so`;
const torchOf = (names: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.map((name) => [library(name), ""]));

const toolkit = {
  cccl: "nvidia-cuda-cccl==13.0.85",
  crt: "nvidia-cuda-crt==13.0.88",
  cublas: "nvidia-cublas==13.1.1.3",
  cudart: "nvidia-cuda-runtime==13.0.96",
  cupti: "nvidia-cuda-cupti==13.0.85",
};

/** PyPI's build, with what it asks for, in the shape of torch 2.13.0's own metadata. */
const cudaBuild: readonly SmallWheel[] = [
  {
    file: "torch-2.13.0-py3-none-any.whl",
    contents: torchOf(["torch", "torch_cpu", "torch_cuda", "torch_cuda_linalg", "c10", "c10_cuda"]),
    metadata: [
      "Requires-Dist: sympy>=1.13.3",
      'Requires-Dist: cuda-toolkit[cublas,cudart,cupti]==13.0.3; platform_system == "Linux"',
    ],
  },
  {
    file: "cuda_toolkit-13.0.3-py3-none-any.whl",
    contents: {},
    metadata: Object.entries(toolkit).flatMap(([extra, wanted]) => [
      `Provides-Extra: ${extra}`,
      `Requires-Dist: ${wanted}; extra == '${extra}'`,
    ]),
  },
  { file: "nvidia_cublas-13.1.1.3-py3-none-any.whl", contents: { "nvidia/cu13/lib/libcublas.so.13": "" } },
  {
    file: "nvidia_cuda_runtime-13.0.96-py3-none-any.whl",
    contents: { "nvidia/cu13/lib/libcudart.so.13": "" },
  },
  { file: "nvidia_cuda_cupti-13.0.85-py3-none-any.whl", contents: { "nvidia/cu13/lib/libcupti.so.13": "" } },
  { file: "nvidia_cuda_cccl-13.0.85-py3-none-any.whl", contents: { "nvidia/cu13/include/cccl/x.h": "" } },
  { file: "nvidia_cuda_crt-13.0.88-py3-none-any.whl", contents: { "nvidia/cu13/include/crt/x.h": "" } },
];
const cpuBuild: SmallWheel = {
  file: "torch-2.13.0+cpu-py3-none-any.whl",
  contents: torchOf(["torch", "torch_cpu", "c10"]),
};

interface Fetched {
  readonly said: string;
  readonly has: (path: string) => boolean;
}

/** Runs the step in a checkout of its own; PyTorch's index is behind a proxy that does not exist. */
function fetchTorch(name: string, wheels: readonly SmallWheel[], env: NodeJS.ProcessEnv): Fetched {
  const checkout = join(folder, name);
  cpSync(dirname(fileURLToPath(import.meta.url)), join(checkout, "scripts", "setup"), { recursive: true });
  const offered = join(checkout, "offered");
  mkdirSync(offered);
  for (const wheel of wheels) writeWheel(offered, wheel);
  const module = pathToFileURL(join(checkout, "scripts/setup/torch-wheel.mjs")).href;
  const program = `import { torchWheel } from ${JSON.stringify(module)};
    const progress = { note: console.log, advise: console.log };
    console.log("result", await torchWheel.run({ detail() {}, progress }));
    console.log("done", torchWheel.isDone());`;
  const blocked = {
    https_proxy: "http://127.0.0.1:9",
    HTTPS_PROXY: "http://127.0.0.1:9",
    NO_PROXY: "",
    no_proxy: "",
  };
  const { REVERIE_TORCH, REVERIE_TORCH_BUILD, ...own } = process.env;
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", program], {
    env: { ...own, ...blocked, PIP_NO_INDEX: "1", PIP_FIND_LINKS: offered, ...env },
    encoding: "utf8",
  });
  const lib = join(checkout, ".deps/venv/lib");
  const site = join(lib, readdirSync(lib)[0] ?? "", "site-packages");
  return { said: stdout + stderr, has: (path) => existsSync(join(site, path)) };
}

test("without a GPU and a CPU build anywhere, PyPI's CUDA build is fetched for its CPU half, and its size is explained", () => {
  const { said, has } = fetchTorch("half", cudaBuild, { REVERIE_TORCH_BUILD: "cpu" });
  assert.match(said, /done true/);
  assert.match(said, /530 MB instead of 190 MB/);
  assert.ok(has(library("torch_cpu")) && has(library("c10")));
  for (const name of ["torch", "torch_cuda", "torch_cuda_linalg", "c10_cuda"])
    assert.ok(!has(library(name)), name);
  assert.ok(has("nvidia/cu13/lib/libcudart.so.13") && has("nvidia/cu13/lib/libcupti.so.13"));
  assert.ok(!has("nvidia/cu13/lib/libcublas.so.13"), "nothing that the CPU half does not need");
});

test("without a GPU a CPU build that pip finds is preferred, and a file of one's own index is said with its hash", () => {
  const { said, has } = fetchTorch("cpu", [...cudaBuild, cpuBuild], { REVERIE_TORCH_BUILD: "cpu" });
  assert.match(said, /2\.13\.0\+cpu, found by pip/);
  assert.match(said, /your own pip settings[\s\S]*SHA-256 is [0-9a-f]{64}/);
  assert.ok(!has("nvidia"));
});

test("with a GPU the CUDA build is fetched even where pip prefers a CPU build, with libraries and headers", () => {
  const { said, has } = fetchTorch("cuda", [...cudaBuild, cpuBuild], { REVERIE_TORCH_BUILD: "cuda" });
  assert.match(said, /done true/);
  assert.ok(has(library("torch_cuda")) && has("nvidia/cu13/lib/libcublas.so.13"));
  assert.ok(has("nvidia/cu13/include/crt/x.h") && has("nvidia/cu13/include/cccl/x.h"));
});

test("a CUDA build that cannot be had is refused when it was asked for", () => {
  const { said } = fetchTorch("none", [cpuBuild], { REVERIE_TORCH_BUILD: "cuda" });
  assert.match(said, /REVERIE_TORCH_BUILD is cuda, but pip finds only the CPU build/);
});
