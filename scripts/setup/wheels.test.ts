/** What set-up fetches: each wheel is the file whose hash is pinned, and what is not is refused or said. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { pythonTag, writeWheel } from "./small-wheel.ts";

const module = (name: string) => import(new URL(name, import.meta.url).href);
const { cudaRequirements, runtimeRequirements } = await module("./torch-wheel.mjs");
const { constraintLines, judgeWheel, readHashes, sha256 } = await module("./wheel-hashes.mjs");

const folder = mkdtempSync(join(tmpdir(), "reverie-wheels-"));
after(() => rmSync(folder, { recursive: true, force: true }));

async function wheel(name: string, text: string): Promise<{ path: string; hash: string }> {
  const path = join(folder, name);
  writeFileSync(path, text);
  return { path, hash: await sha256(path) };
}

test("a wheel with the pinned hash is taken, and one with another hash is refused even from one's own index", async () => {
  const { path, hash } = await wheel("a-1-cp311-cp311-manylinux_2_28_x86_64.whl", "good");
  const name = "a-1-cp311-cp311-manylinux_2_28_x86_64.whl";
  assert.equal(
    await judgeWheel(path, { hasOwnIndex: () => false, hashes: new Map([[name, hash]]) }),
    undefined,
  );
  const other = { hasOwnIndex: () => true, hashes: new Map([[name, "0".repeat(64)]]) };
  await assert.rejects(judgeWheel(path, other), new RegExp(`${hash}.*not opened`, "s"));
});

test("a wheel that the list does not name is said with its hash, and refused where the list has one for this machine", async () => {
  const { path, hash } = await wheel("a-1-cp311-cp311-linux_x86_64.whl", "other");
  const rival = new Map([["a-1-cp311-cp311-manylinux_2_28_x86_64.whl", hash]]);
  await assert.rejects(
    judgeWheel(path, { hasOwnIndex: () => false, hashes: rival }),
    /offers a-1-cp311-cp311-linux_x86_64/,
  );
  const own = await judgeWheel(path, { hasOwnIndex: () => true, hashes: rival });
  assert.match(own ?? "", new RegExp(`your own pip settings.*${hash}`, "s"));
  const unknown = await judgeWheel(path, { hasOwnIndex: () => false, hashes: new Map() });
  assert.match(unknown ?? "", new RegExp(`no hash is known.*${hash}`, "s"));
});

test("the list has every wheel of set-up for the Pythons and processors that we name", () => {
  const files: string[] = [...readHashes().keys()];
  const has = (...parts: string[]) => files.some((file) => parts.every((part) => file.includes(part)));
  const missing = ["x86_64", "aarch64"].flatMap((processor) => {
    const pythons = ["cp310", "cp311", "cp312", "cp313", "cp314"];
    const wanted = [
      ...pythons.map((python) => ["torch-2.13.0-", python, processor]),
      ...pythons.map((python) => ["torch-2.13.0+cpu-", python, processor]),
      ...pythons.map((python) => ["mujoco-3.3.7-", python, processor]),
      ...["imageio_ffmpeg-0.6.0-", "nvidia_cuda_runtime-", "nvidia_cuda_cupti-"].map((name) => [
        name,
        processor,
      ]),
    ];
    return wanted.filter((parts) => !has(...parts)).map((parts) => parts.join(" "));
  });
  // No such wheel of MuJoCo exists, and the third is not known to us: the list says so.
  const known = [
    "mujoco-3.3.7- cp314 aarch64",
    "mujoco-3.3.7- cp314 x86_64",
    "torch-2.13.0+cpu- cp310 x86_64",
  ];
  assert.deepEqual(missing.sort(), known);
});

test("the list pins each package to one version", () => {
  const names = constraintLines().map((line: string) => line.split("==")[0]);
  assert.equal(new Set(names).size, names.length, names.join(" "));
  assert.ok(names.includes("nvidia-nvjitlink"));
});

test("of torch's own requirements the CPU half needs the CUDA runtime and the profiler, a CUDA addon also the headers", () => {
  const linux = '; platform_system == "Linux"';
  const requires = [
    "filelock",
    `cuda-toolkit[cublas,cudart,cufft,cupti]==13.0.3${linux}`,
    `nvidia-cudnn-cu13==9.20.0.48${linux}`,
    'nvidia-cuda-runtime==1; extra == "all"',
  ];
  assert.deepEqual(runtimeRequirements(requires), [`cuda-toolkit[cudart,cupti]==13.0.3${linux}`]);
  assert.deepEqual(cudaRequirements(requires), [
    `cuda-toolkit[cccl,crt,cublas,cudart,cufft,cupti]==13.0.3${linux}`,
    `nvidia-cudnn-cu13==9.20.0.48${linux}`,
  ]);
  const older = [`nvidia-cuda-runtime-cu12==12.8.90${linux}`, `nvidia-cuda-cupti-cu12==12.8.90${linux}`];
  assert.deepEqual(runtimeRequirements([...older, `nvidia-cublas-cu12==12.8.4.1${linux}`]), older);
});

test("set-up unpacks nothing of a forged MuJoCo that pip was given", async () => {
  const checkout = join(folder, "checkout");
  cpSync(dirname(fileURLToPath(import.meta.url)), join(checkout, "scripts", "setup"), { recursive: true });
  const wheels = join(folder, "forged");
  mkdirSync(wheels);
  const processor = process.arch === "arm64" ? "aarch64" : "x86_64";
  const program = `import { mujocoWheel } from ${JSON.stringify(pathToFileURL(join(checkout, "scripts/setup/mujoco-wheel.mjs")).href)};
    await mujocoWheel.run({ detail() {}, progress: { advise: console.log } }).catch((error) => console.log(error.name, error.message));
    console.log("done", mujocoWheel.isDone());`;
  const tag = `${pythonTag()}-${pythonTag()}`;
  const platform = `manylinux_2_27_${processor}.manylinux_2_28_${processor}`;
  const contents = { "mujoco/libmujoco.so.3.3.7": "forged" };
  writeWheel(wheels, { file: `mujoco-3.3.7-${tag}-${platform}.whl`, contents });
  const env = { ...process.env, PIP_FIND_LINKS: wheels, PIP_NO_INDEX: "1" };
  const { stdout } = spawnSync(process.execPath, ["--input-type=module", "--eval", program], {
    env,
    encoding: "utf8",
  });
  assert.match(stdout, /WheelRefused .*has the SHA-256/s);
  assert.match(stdout, /done false/);
  assert.equal(existsSync(join(checkout, ".deps", "wheels")), false, "the forged file is gone");
  const lib = join(checkout, ".deps/venv/lib");
  assert.deepEqual(
    readdirSync(join(lib, readdirSync(lib)[0] ?? "", "site-packages")).includes("mujoco"),
    false,
  );
});
