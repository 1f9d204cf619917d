/**
 * Runs a fused kernel's CUDA source on the CPU: compiled by g++ with a small imitation of CUDA (host-cuda.h), it works on copies of
 * the tensors and writes them back. Slow and exact: for tests where no GPU is. Checks what a kernel computes, not that nvcc takes it.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type KernelArgument, type KernelSize, kernelSources, noGrad, Tensor, tensor } from "#tensor";

const header = fileURLToPath(new URL("host-cuda.h", import.meta.url));

export const hostCompiler: string | false =
  spawnSync("g++", ["--version"]).status === 0 ? false : "needs g++";

/** Types of the parameters of `extern "C" __global__ void name(...)`. */
function parameterTypes(source: string, name: string): string[] {
  const list = new RegExp(`__global__ void ${name}\\(([^)]*)\\)`).exec(source)?.[1];
  if (list === undefined) throw new Error(`internal: no kernel ${name} in its source`);
  return list.split(",").map((one) => one.trim().replace(/\s*\w+$/, ""));
}

/** Reads every argument from the file named first, runs, and writes those that are tensors to the second. */
function program(source: string, name: string): string {
  const types = parameterTypes(source, name);
  const passed = types.map((type, i) =>
    type.endsWith("*") ? `(${type})words[${i}].data()` : `*(${type}*)words[${i}].data()`,
  );
  return `#include "${header}"
#line 1 "${name}.cu"
${source}
static std::vector<std::vector<unsigned char>> words;
static void once() { ${name}(${passed.join(", ")}); }
int main(int, char** files) {
  FILE* in = fopen(files[1], "rb");
  auto number = [&] { int64_t n; if (fread(&n, 8, 1, in) != 1) exit(2); return n; };
  int blocks = number(), threads = number();
  words.resize(number());
  for (auto& word : words) { word.resize(number()); if (!word.empty() && fread(word.data(), word.size(), 1, in) != 1) exit(2); }
  runGrid(blocks, threads, once);
  FILE* out = fopen(files[2], "wb");
  for (auto& word : words) fwrite(word.data(), 1, word.size(), out);
  fclose(out);
}
`;
}

const folder = join(tmpdir(), "reverie-kernels");

function compiled(name: string): string {
  const source = kernelSources().get(name);
  if (!source) throw new Error(`internal: nobody named a kernel ${name}`);
  const text = program(source, name);
  const key = createHash("sha256").update(text).update(readFileSync(header)).digest("hex").slice(0, 16);
  const binary = join(folder, `${name}-${key}`);
  if (existsSync(binary)) return binary;
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${binary}.cpp`, text);
  const { status, stderr } = spawnSync(
    "g++",
    ["-O2", "-std=c++17", "-Wno-unused", "-o", binary, `${binary}.cpp`],
    { encoding: "utf8" },
  );
  if (status !== 0) throw new Error(`kernel ${name} does not compile on the host:\n${stderr.slice(0, 4000)}`);
  return binary;
}

/** Launches the kernel that was named `name`; tensors among the arguments end as the kernel leaves them. */
export function runOnHost(name: string, size: KernelSize, args: readonly KernelArgument[]): void {
  const work = mkdtempSync(join(tmpdir(), "reverie-kernel-"));
  const [input, output] = [join(work, "in"), join(work, "out")];
  const bytes = args.map(bytesOf);
  const long = (value: number): Buffer => Buffer.from(BigInt64Array.of(BigInt(value)).buffer);
  writeFileSync(
    input,
    Buffer.concat([
      long(size.blocks),
      long(size.threads),
      long(args.length),
      ...bytes.flatMap((b) => [long(b.length), b]),
    ]),
  );
  const { status, signal, stderr } = spawnSync(compiled(name), [input, output], { encoding: "utf8" });
  if (status !== 0) throw new Error(`kernel ${name} ended with ${status ?? signal}: ${stderr}`);
  const left = readFileSync(output);
  let at = 0;
  for (const [i, argument] of args.entries()) {
    const piece = left.subarray(at, (at += bytes[i]!.length));
    if (argument instanceof Tensor) write(argument, piece);
  }
  rmSync(work, { recursive: true });
}

function bytesOf(argument: KernelArgument): Buffer {
  if (!(argument instanceof Tensor)) {
    const array = "int" in argument ? Int32Array.of(argument.int) : Float32Array.of(argument.float);
    return Buffer.from(array.buffer);
  }
  if (!argument.isContiguous) throw new Error("internal: kernels read contiguous tensors");
  const data = argument.detach().data();
  return Buffer.from(data.buffer, data.byteOffset, data.byteLength);
}

function write(target: Tensor, bytes: Buffer): void {
  const own = new Uint8Array(bytes).buffer;
  noGrad(() => {
    const value =
      target.dtype === "bfloat16"
        ? tensor(new Uint16Array(own), { shape: target.shape, dtype: "bfloat16" })
        : tensor(new Float32Array(own), { shape: target.shape });
    target.copy_(value);
  });
}
