/** CUDA sources are checked where there is a compiler for them, also without a GPU. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { kernelSources } from "#tensor";
import { shortAttentionKernels } from "./attention-gradient.ts";
import { channelNormKernels } from "./channel-norm-gradient.ts";
import { groupNormKernels } from "./group-norm-gradient.ts";
import { joinKernels } from "./rows-gradient.ts";
import "../nn/index.ts"; // names the kernels

// and these are named by their sizes: those of the small worlds
for (const joins of [true, false]) joinKernels(192, joins);
for (const channels of [16, 64, 192]) groupNormKernels(channels, true);
for (const channels of [24, 32, 48, 96, 128]) channelNormKernels(channels, true);
for (const length of [16, 64]) {
  shortAttentionKernels({ length, heads: 4, width: 48, causal: false, rotates: false, norms: true });
}
shortAttentionKernels({ length: 12, heads: 4, width: 48, causal: true, rotates: true, norms: true });
shortAttentionKernels({ length: 12, heads: 8, width: 16, causal: false, rotates: false, norms: false });

const nvcc = (args: readonly string[]) => spawnSync("nvcc", args, { encoding: "utf8" });
const skip = nvcc(["--version"]).status === 0 ? false : "needs nvcc";

/** All kernels as one program, each with its helpers in a namespace of its own. */
const program = (): string =>
  [...kernelSources()].map(([name, source]) => `namespace of_${name} {\n${source}\n}`).join("\n");

function compile(source: string): { status: number | null; complaints: string } {
  const folder = mkdtempSync(join(tmpdir(), "reverie-nvcc-"));
  const [file, out] = [join(folder, "kernels.cu"), join(folder, "kernels.ptx")];
  writeFileSync(file, source);
  const { status, stderr } = nvcc(["-arch=sm_90", "-std=c++17", "-ptx", "-o", out, file]);
  rmSync(folder, { recursive: true });
  return { status, complaints: stderr };
}

test("every fused kernel compiles for a Hopper GPU", { skip }, () => {
  assert.ok(kernelSources().size >= 5, `${kernelSources().size} kernels were found`);
  const { status, complaints } = compile(program());
  assert.equal(status, 0, complaints);
});

test("a kernel that does not compile would be noticed", { skip }, () => {
  assert.notEqual(compile(`${program()}\n__global__ void wrong() { undeclared = 1; }`).status, 0);
});
