/** Attention with gradients against plain operators: its sources on the CPU (test/kernels), and on a GPU where there is one. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Device, Generator, grad, ones, randn, type Tensor, zeros } from "#tensor";
import { bf16, eps, gpu, leaf, near } from "../../test/kernels/compare.ts";
import { hostCompiler, runOnHost } from "../../test/kernels/run-on-host.ts";
import { attention, rotateInterleaved } from "../nn/index.ts";
import {
  type AttentionSizes,
  fusedShortAttention,
  shortAttentionFits,
  shortAttentionGrid,
  shortAttentionKernels,
} from "./attention-gradient.ts";

interface Heads {
  readonly qkv: Tensor; // [B, T, S, 3, H, E]
  readonly q: Tensor; // [E]
  readonly k: Tensor;
}

/** Norms, rotation and attention over frames or patches, in plain operators: [B, T, S, H·E]. */
function plainAttention(
  { qkv, q, k }: Heads,
  how: AttentionCase,
  tables: readonly Tensor[] | undefined,
): Tensor {
  const [videos = 0, frames = 0, patches = 0] = qkv.shape;
  const norm = (x: Tensor, weight: Tensor): Tensor =>
    how.plain ? x : x.mul(x.square().mean(-1, true).add(eps).rsqrt()).mul(weight);
  const parts = qkv.unbind(3);
  const { overTime } = how;
  const order = overTime ? [0, 2, 3, 1, 4] : [0, 1, 3, 2, 4];
  const [qs, ks, vs] = [norm(parts[0]!, q), norm(parts[1]!, k), parts[2]!].map((x) =>
    x.permute(order).flatten(0, 1),
  ) as [Tensor, Tensor, Tensor];
  const turn = (x: Tensor): Tensor =>
    tables ? rotateInterleaved(x, { cos: tables[0]!.float(), sin: tables[1]!.float() }) : x;
  const mixed = attention(turn(qs), turn(ks), vs, { causal: tables !== undefined });
  const outer = overTime ? [videos, patches] : [videos, frames];
  const back = mixed.unflatten(0, outer).permute(overTime ? [0, 3, 1, 2, 4] : [0, 1, 3, 2, 4]);
  return back.flatten(3);
}

interface AttentionCase {
  readonly frames: number;
  readonly patches: number;
  readonly heads: number;
  readonly width: number;
  readonly overTime: boolean;
  /** Without norms, rotation and order. */
  readonly plain?: boolean;
}

const cases: readonly AttentionCase[] = [
  { frames: 12, patches: 3, heads: 3, width: 48, overTime: true },
  { frames: 3, patches: 16, heads: 2, width: 48, overTime: false },
  { frames: 2, patches: 64, heads: 1, width: 48, overTime: false },
  { frames: 20, patches: 2, heads: 2, width: 32, overTime: true },
  { frames: 12, patches: 5, heads: 3, width: 16, overTime: true, plain: true },
  { frames: 3, patches: 16, heads: 2, width: 16, overTime: false, plain: true },
];

function drawn(one: AttentionCase, device: Device = "cpu") {
  const { frames, patches, heads, width, overTime, plain = false } = one;
  const rotates = overTime && !plain;
  const given = {
    qkv: bf16([2, frames, patches, 3, heads, width], 1, device),
    q: bf16([width], 2, device),
    k: bf16([width], 3, device),
  };
  const angles = randn([frames, width / 2], { generator: new Generator(4) }).to({ device });
  const tables = rotates ? [angles.cos().bfloat16(), angles.sin().bfloat16()] : undefined;
  const length = overTime ? frames : patches;
  const inner = overTime ? patches : 1;
  const sizes: AttentionSizes = { length, heads, width, causal: rotates, rotates, norms: !plain };
  return { given, tables, length, inner, sizes, of: bf16([2, frames, patches, heads * width], 5, device) };
}

function expectedOf(
  given: Heads,
  how: AttentionCase,
  tables: readonly Tensor[] | undefined,
  of: Tensor,
): [Tensor, Tensor[]] {
  const leaves = { qkv: leaf(given.qkv), q: leaf(given.q), k: leaf(given.k) };
  const out = plainAttention(leaves, how, tables);
  const learned = how.plain ? [leaves.qkv] : Object.values(leaves);
  return [out.detach(), grad([out], learned, { gradOutputs: [of.float()] }) as Tensor[]];
}

for (const one of cases) {
  const what = `${one.overTime ? one.frames : one.patches} ${one.overTime ? "frames" : "patches"}, heads of ${one.width}${one.plain ? ", as they are" : ""}`;
  test(`attention's sources give the plain operators' numbers and gradients: ${what}`, {
    skip: hostCompiler,
  }, () => {
    const { given, tables, inner, sizes, of, length } = drawn(one);
    const { name } = shortAttentionKernels(sizes);
    const sequences = given.qkv.numel / (3 * one.heads * one.width * length);
    const size = shortAttentionGrid(sizes, sequences);
    const read = [given.qkv, given.q, given.k, ...(tables ?? [given.q, given.q])];
    const numbers = [{ int: sequences * one.heads }, { int: inner }, { float: eps }];
    const out = zeros(of.shape).bfloat16();
    runOnHost(name, size, [...read, out, ...numbers]);
    const [plain, gradients] = expectedOf(given, one, tables, of);
    near(out, plain, 0.015, "attention");
    const ofQkv = zeros(given.qkv.shape).bfloat16();
    const parts = ones([size.blocks, 2 * one.width]);
    runOnHost(`${name}_gradient`, size, [...read, of, ofQkv, parts, ...numbers]);
    for (const part of [0, 1, 2])
      near(ofQkv.select(3, part), gradients[0]!.select(3, part), 0.02, `part ${part}`);
    if (one.plain) return;
    const [ofQ, ofK] = [zeros([one.width]).bfloat16(), zeros([one.width]).bfloat16()];
    const sums = [size.blocks, one.width, 2 * one.width].map((int) => ({ int }));
    runOnHost("column_sums", { blocks: 2 * one.width, threads: 256 }, [parts, ofQ, ofK, ...sums]);
    near(ofQ, gradients[1], 0.02, "weight of queries");
    near(ofK, gradients[2], 0.02, "weight of keys");
  });

  test(`on a GPU attention's numbers and gradients are the plain operators': ${what}`, { skip: gpu }, () => {
    const { given, tables, inner, length, of, sizes } = drawn(one, "cuda");
    const leaves = [given.qkv, given.q, given.k].map((x) => x.clone().requiresGrad_());
    const out = fusedShortAttention(leaves[0]!, {
      ...(!one.plain && { norm: { q_weight: leaves[1]!, k_weight: leaves[2]!, eps } }),
      length,
      inner,
      causal: sizes.causal,
      ...(tables && { rotary: { cos: tables[0]!, sin: tables[1]! } }),
    });
    const [plain, gradients] = expectedOf(given, one, tables, of);
    near(out?.detach(), plain, 0.015, "attention");
    const learned = one.plain ? leaves.slice(0, 1) : leaves;
    const ours = grad([out!], learned, { gradOutputs: [of] }) as Tensor[];
    for (const [i, each] of ours.entries()) near(each, gradients[i], 0.02, `gradient ${i}`);
  });
}

test("sequences that do not fit in shared memory are left to the library", () => {
  const sizes = { length: 64, heads: 4, width: 48, causal: false, rotates: false, norms: true };
  assert.ok(shortAttentionFits(sizes));
  assert.ok(!shortAttentionFits({ ...sizes, length: 65 }));
  assert.ok(!shortAttentionFits({ ...sizes, width: 64 }));
  assert.ok(!shortAttentionFits({ ...sizes, width: 40 }));
});
