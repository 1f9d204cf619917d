/** Kernels of learning networks against plain operators: their sources on the CPU (test/kernels), and on a GPU where there is one. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { aten, cudaAvailable, type Device, Generator, grad, ones, randn, type Tensor, zeros } from "#tensor";
import { hostCompiler, runOnHost } from "../../test/kernels/run-on-host.ts";
import {
  type AttentionSizes,
  fusedShortAttention,
  shortAttentionFits,
  shortAttentionGrid,
  shortAttentionKernels,
} from "./fused-attention-gradient.ts";
import { biasGeluGrid, fusedBiasGelu } from "./fused-gelu-gradient.ts";
import { groupNormKernels, recordedGroupNorm } from "./fused-group-norm-gradient.ts";
import { fusedRotatePairs, rotatePairsLaunch } from "./fused-rotate-gradient.ts";
import { fusedJunction, joinKernels } from "./fused-rows-gradient.ts";
import { attention, geluTanh, rotateInterleaved, silu } from "./index.ts";

const gpu = cudaAvailable() ? false : "needs a GPU";
const eps = 1e-6;

const bf16 = (shape: number[], seed: number, device: Device = "cpu"): Tensor =>
  randn(shape, { generator: new Generator(seed) })
    .to({ device })
    .bfloat16();

/** Largest difference relative to the size of the numbers. */
function near(
  ours: Tensor | null | undefined,
  plain: Tensor | null | undefined,
  limit: number,
  what = "",
): void {
  assert.ok(ours && plain, `${what}: the kernel stepped aside`);
  assert.deepEqual(ours.shape, plain.shape);
  const worst = ours.float().sub(plain.float()).abs().amax().div(plain.float().abs().amax()).item();
  assert.ok(worst < limit, `${what} is off by ${worst}`);
}

/** Leaves of a function in float32, so that plain gradients are nearly exact. */
const leaf = (x: Tensor): Tensor => x.detach().float().requiresGrad_();

interface Rows {
  readonly x: Tensor; // [G, S, D]
  readonly branch: Tensor;
  readonly gates: Tensor; // [G, 6, D]
  readonly table: Tensor;
}

const rows = (groups: number, each: number, width: number, device: Device = "cpu"): Rows => ({
  x: bf16([groups, each, width], 1, device),
  branch: bf16([groups, each, width], 2, device),
  gates: bf16([groups, 6, width], 3, device),
  table: bf16([groups, 6, width], 4, device),
});

/** The gate is row 5, the shift row 3, the scale row 4. */
function plainJunction({ x, branch, gates, table }: Rows, joins: boolean): [sum: Tensor, normed: Tensor] {
  const row = (of: Tensor, at: number): Tensor => of.narrow(1, at, 1);
  const sum = joins ? x.add(row(gates, 5).mul(branch)) : x;
  const normal = aten.layer_norm(sum, [x.shape[2]!], null, null, eps);
  return [sum, normal.mul(row(table, 4).add(1)).add(row(table, 3))];
}

/** Gradients of x, branch, gate, shift and scale. */
function plainGradients(given: Rows, joins: boolean, of: readonly Tensor[]): Tensor[] {
  const leaves = Object.fromEntries(
    Object.entries(given).map(([name, x]) => [name, leaf(x)]),
  ) as never as Rows;
  const out = plainJunction(leaves, joins).slice(joins ? 0 : 1);
  const wanted = joins ? Object.values(leaves) : [leaves.x, leaves.table];
  const found = grad(out, wanted, { gradOutputs: of.map((each) => each.float()) }) as Tensor[];
  const table = found.at(-1)!;
  const modulated = [table.select(1, 3), table.select(1, 4)];
  return joins ? [found[0]!, found[1]!, found[2]!.select(1, 5), ...modulated] : [found[0]!, ...modulated];
}

for (const joins of [true, false]) {
  for (const width of [64, 192, 320]) {
    test(`the junction's sources give the plain operators' numbers and gradients, width ${width}${joins ? "" : ", norm alone"}`, {
      skip: hostCompiler,
    }, () => {
      const given = rows(3, 6, width);
      const { name } = joinKernels(width, joins);
      const size = { blocks: 3, threads: 128 };
      const numbers = [{ int: 6 }, { int: 5 }, { int: 3 }, { float: eps }];
      const [sum, normed] = [zeros([3, 6, width]).bfloat16(), zeros([3, 6, width]).bfloat16()];
      const { x, branch, gates, table } = given;
      runOnHost(name, size, [x, branch, gates, table, sum, normed, ...numbers]);
      const plain = plainJunction(given, joins);
      if (joins) near(sum, plain[0], 1e-6, "sum");
      near(normed, plain[1], 0.01, "normed");
      const of = [bf16([3, 6, width], 5), bf16([3, 6, width], 6)];
      const [ofX, ofBranch] = [zeros([3, 6, width]).bfloat16(), zeros([3, 6, width]).bfloat16()];
      const [ofGate, ofShift, ofScale] = [0, 1, 2].map(() => zeros([3, width]).bfloat16());
      const written = [ofX, ofBranch, ofGate!, ofShift!, ofScale!];
      const read = [of[0]!, of[1]!, joins ? sum : x, branch, gates, table];
      runOnHost(`${name}_gradient`, size, [...read, ...written, ...numbers]);
      const expected = plainGradients(given, joins, joins ? of : of.slice(1));
      const ours = joins ? written : [ofX, ofShift, ofScale];
      for (const [i, each] of ours.entries()) near(each, expected[i], 0.012, `gradient ${i}`);
    });
  }
}

test("on a GPU a junction's numbers and gradients are the plain operators'", { skip: gpu }, () => {
  const given = rows(7, 16, 192, "cuda");
  const leaves = Object.fromEntries(
    Object.entries(given).map(([name, x]) => [name, x.clone().requiresGrad_()]),
  ) as never as Rows;
  const recorded = (table: Tensor) => ({ table_G6D: table, rows: table.unbind(1) });
  const [gates, table] = [recorded(leaves.gates), recorded(leaves.table)];
  const of = [bf16([7, 16, 192], 5, "cuda"), bf16([7, 16, 192], 6, "cuda")];
  const joined = fusedJunction(leaves.x, {
    norm: { by: table, shift: 3 },
    join: { branch: leaves.branch, by: gates, gate: 5 },
    eps,
  });
  const plain = plainJunction(given, true);
  near(joined?.sum.detach(), plain[0], 1e-6, "sum");
  near(joined?.normed.detach(), plain[1], 0.01, "normed");
  const found = grad([joined!.sum, joined!.normed], Object.values(leaves), { gradOutputs: of }) as Tensor[];
  const expected = plainGradients(given, true, of);
  const ours = [found[0], found[1], found[2]!.select(1, 5), found[3]!.select(1, 3), found[3]!.select(1, 4)];
  for (const [i, each] of ours.entries()) near(each, expected[i], 0.012, `gradient ${i}`);
});

interface Heads {
  readonly qkv: Tensor; // [B, T, S, 3, H, E]
  readonly q: Tensor; // [E]
  readonly k: Tensor;
}

/** Norms, rotation and attention over frames (rotated, causal) or patches, in plain operators: [B, T, S, H·E]. */
function plainAttention({ qkv, q, k }: Heads, tables: readonly Tensor[] | undefined): Tensor {
  const [videos = 0, frames = 0, patches = 0] = qkv.shape;
  const norm = (x: Tensor, weight: Tensor): Tensor =>
    x.mul(x.square().mean(-1, true).add(eps).rsqrt()).mul(weight);
  const parts = qkv.unbind(3);
  const order = tables ? [0, 2, 3, 1, 4] : [0, 1, 3, 2, 4];
  const [qs, ks, vs] = [norm(parts[0]!, q), norm(parts[1]!, k), parts[2]!].map((x) =>
    x.permute(order).flatten(0, 1),
  ) as [Tensor, Tensor, Tensor];
  const turn = (x: Tensor): Tensor =>
    tables ? rotateInterleaved(x, { cos: tables[0]!.float(), sin: tables[1]!.float() }) : x;
  const mixed = attention(turn(qs), turn(ks), vs, { causal: tables !== undefined });
  const outer = tables ? [videos, patches] : [videos, frames];
  const back = mixed.unflatten(0, outer).permute(tables ? [0, 3, 1, 2, 4] : [0, 1, 3, 2, 4]);
  return back.flatten(3);
}

interface AttentionCase {
  readonly frames: number;
  readonly patches: number;
  readonly heads: number;
  readonly width: number;
  readonly overTime: boolean;
}

const cases: readonly AttentionCase[] = [
  { frames: 12, patches: 3, heads: 3, width: 48, overTime: true },
  { frames: 3, patches: 16, heads: 2, width: 48, overTime: false },
  { frames: 2, patches: 64, heads: 1, width: 48, overTime: false },
  { frames: 20, patches: 2, heads: 2, width: 32, overTime: true },
];

function drawn({ frames, patches, heads, width, overTime }: AttentionCase, device: Device = "cpu") {
  const given = {
    qkv: bf16([2, frames, patches, 3, heads, width], 1, device),
    q: bf16([width], 2, device),
    k: bf16([width], 3, device),
  };
  const angles = randn([frames, width / 2], { generator: new Generator(4) }).to({ device });
  const tables = overTime ? [angles.cos().bfloat16(), angles.sin().bfloat16()] : undefined;
  const length = overTime ? frames : patches;
  const inner = overTime ? patches : 1;
  const sizes: AttentionSizes = { length, heads, width, causal: overTime, rotates: overTime };
  return { given, tables, length, inner, sizes, of: bf16([2, frames, patches, heads * width], 5, device) };
}

function expectedOf(given: Heads, tables: readonly Tensor[] | undefined, of: Tensor): [Tensor, Tensor[]] {
  const leaves = { qkv: leaf(given.qkv), q: leaf(given.q), k: leaf(given.k) };
  const out = plainAttention(leaves, tables);
  return [out.detach(), grad([out], Object.values(leaves), { gradOutputs: [of.float()] }) as Tensor[]];
}

for (const one of cases) {
  const what = `${one.overTime ? one.frames : one.patches} ${one.overTime ? "frames" : "patches"}, heads of ${one.width}`;
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
    const [plain, gradients] = expectedOf(given, tables, of);
    near(out, plain, 0.015, "attention");
    const ofQkv = zeros(given.qkv.shape).bfloat16();
    const parts = ones([size.blocks, 2 * one.width]);
    runOnHost(`${name}_gradient`, size, [...read, of, ofQkv, parts, ...numbers]);
    for (const part of [0, 1, 2])
      near(ofQkv.select(3, part), gradients[0]!.select(3, part), 0.02, `part ${part}`);
    const [ofQ, ofK] = [zeros([one.width]).bfloat16(), zeros([one.width]).bfloat16()];
    const sums = [size.blocks, one.width, 2 * one.width].map((int) => ({ int }));
    runOnHost("column_sums", { blocks: 2 * one.width, threads: 256 }, [parts, ofQ, ofK, ...sums]);
    near(ofQ, gradients[1], 0.02, "weight of queries");
    near(ofK, gradients[2], 0.02, "weight of keys");
  });

  test(`on a GPU attention's numbers and gradients are the plain operators': ${what}`, { skip: gpu }, () => {
    const { given, tables, inner, length, of } = drawn(one, "cuda");
    const leaves = [given.qkv, given.q, given.k].map((x) => x.clone().requiresGrad_());
    const out = fusedShortAttention(leaves[0]!, {
      q_weight: leaves[1]!,
      k_weight: leaves[2]!,
      eps,
      length,
      inner,
      causal: one.overTime,
      ...(tables && { rotary: { cos: tables[0]!, sin: tables[1]! } }),
    });
    const [plain, gradients] = expectedOf(given, tables, of);
    near(out?.detach(), plain, 0.015, "attention");
    const ours = grad([out!], leaves, { gradOutputs: [of] }) as Tensor[];
    for (const [i, each] of ours.entries()) near(each, gradients[i], 0.02, `gradient ${i}`);
  });
}

/** Turned in float32 by tables [L, E/2]: [B, L, H, E]. */
const plainTurn = (x_BLHE: Tensor, cos: Tensor, sin: Tensor): Tensor =>
  rotateInterleaved(x_BLHE, { cos: cos.unsqueeze(1), sin: sin.unsqueeze(1) });

test("the rotation's source turns pairs as the plain operators do, and back", { skip: hostCompiler }, () => {
  const [x, angles] = [bf16([2, 5, 3, 24], 1), randn([5, 12], { generator: new Generator(2) })];
  const { size, numbers } = rotatePairsLaunch([2, 5, 72], 24);
  const [out, back] = [zeros([2, 5, 3, 24]).bfloat16(), zeros([2, 5, 3, 24]).bfloat16()];
  const [cos, sin] = [angles.cos(), angles.sin()];
  runOnHost("rotate_pairs", size, [x, out, cos, sin, ...numbers, { float: 1 }]);
  near(out, plainTurn(x.float(), cos, sin), 0.005, "turned");
  runOnHost("rotate_pairs", size, [out, back, cos, sin, ...numbers, { float: -1 }]);
  near(back, x, 0.01, "turned back");
});

test("on a GPU gradients flow through the rotation as through the plain operators", { skip: gpu }, () => {
  const [x, of] = [bf16([2, 5, 72], 1, "cuda"), bf16([2, 5, 72], 3, "cuda")];
  const angles = randn([5, 12], { generator: new Generator(2) }).to({ device: "cuda" });
  const leaves = [x.clone().requiresGrad_(), leaf(x)] as const;
  const ours = fusedRotatePairs(leaves[0], { cos: angles.cos(), sin: angles.sin() });
  const plain = plainTurn(leaves[1].view([2, 5, 3, 24]), angles.cos(), angles.sin()).flatten(2);
  near(ours?.detach(), plain.detach(), 0.005, "turned");
  const [first] = grad([ours!], [leaves[0]], { gradOutputs: [of] });
  const [second] = grad([plain], [leaves[1]], { gradOutputs: [of.float()] });
  near(first, second, 0.005, "gradient");
});

interface Picture {
  readonly x: Tensor; // [N, P, C]
  readonly weight: Tensor;
  readonly bias: Tensor;
}

const picture = (count: number, pixels: number, channels: number, device: Device = "cpu"): Picture => ({
  x: bf16([count, pixels, channels], 1, device).mul(0.5).add(2),
  weight: bf16([channels], 2, device),
  bias: bf16([channels], 3, device),
});

function plainGroupNorm({ x, weight, bias }: Picture, groups: number, withSilu: boolean): Tensor {
  const normed = aten.group_norm(x.transpose(1, 2), groups, weight, bias, eps).transpose(1, 2);
  return withSilu ? silu(normed) : normed;
}

function expectedNorm(given: Picture, groups: number, withSilu: boolean, of: Tensor): [Tensor, Tensor[]] {
  const leaves = { x: leaf(given.x), weight: leaf(given.weight), bias: leaf(given.bias) };
  const out = plainGroupNorm(leaves, groups, withSilu);
  return [out.detach(), grad([out], Object.values(leaves), { gradOutputs: [of.float()] }) as Tensor[]];
}

for (const [channels, groups, withSilu] of [
  [16, 8, true],
  [64, 8, true],
  [32, 4, false],
] as const) {
  const what = `${channels} channels, ${groups} groups${withSilu ? ", SiLU" : ""}`;
  test(`the group norm's sources give the plain operators' numbers and gradients: ${what}`, {
    skip: hostCompiler,
  }, () => {
    const [given, of] = [picture(2, 90, channels), bf16([2, 90, channels], 4)];
    const { name } = groupNormKernels(channels, withSilu);
    const { x, weight, bias } = given;
    const [out, ofX] = [zeros(x.shape).bfloat16(), zeros(x.shape).bfloat16()];
    const [statistics, parts] = [zeros([2, channels, 2]), zeros([2, 2 * channels])];
    const size = { blocks: 2, threads: 512 };
    const numbers = [{ int: (90 * channels) / 8 }, { int: groups }];
    runOnHost(name, size, [x, weight, bias, out, statistics, ...numbers, { float: eps }]);
    const [plain, gradients] = expectedNorm(given, groups, withSilu, of);
    near(out, plain, 0.01, "norm");
    runOnHost(`${name}_gradient`, size, [x, weight, bias, statistics, of, ofX, parts, ...numbers]);
    near(ofX, gradients[0], 0.015, "gradient of the picture");
    near(parts.sum(0).narrow(0, 0, channels), gradients[1], 0.015, "gradient of the weight");
    near(parts.sum(0).narrow(0, channels, channels), gradients[2], 0.015, "gradient of the bias");
  });

  test(`on a GPU the group norm's numbers and gradients are the plain operators': ${what}`, {
    skip: gpu,
  }, () => {
    const [given, of] = [picture(2, 90, channels, "cuda"), bf16([2, 90, channels], 4, "cuda")];
    const leaves = Object.values(given).map((x: Tensor) => x.clone().requiresGrad_());
    const parts = { groups, weight: leaves[1]!, bias: leaves[2]!, eps, silu: withSilu };
    const out = recordedGroupNorm(leaves[0]!, parts);
    const [plain, gradients] = expectedNorm(given, groups, withSilu, of);
    near(out?.detach(), plain, 0.01, "norm");
    const ours = grad([out!], leaves, { gradOutputs: [of] }) as Tensor[];
    for (const [i, each] of ours.entries()) near(each, gradients[i], 0.015, `gradient ${i}`);
  });
}

function expectedGelu(x: Tensor, bias: Tensor, of: Tensor): [Tensor, Tensor[]] {
  const leaves = [leaf(x), leaf(bias)] as const;
  const out = geluTanh(leaves[0].add(leaves[1]));
  return [out.detach(), grad([out], leaves, { gradOutputs: [of.float()] }) as Tensor[]];
}

for (const width of [264, 96]) {
  test(`GELU's sources give the plain operators' numbers and gradients, width ${width}`, {
    skip: hostCompiler,
  }, () => {
    const [x, bias, of] = [bf16([150, width], 1), bf16([width], 2), bf16([150, width], 3)];
    const { size, parts } = biasGeluGrid(150, width);
    const [out, ofX, sums] = [zeros(x.shape).bfloat16(), zeros(x.shape).bfloat16(), ones([parts, width])];
    const numbers = [{ int: 150 }, { int: width / 8 }];
    runOnHost("bias_gelu", size, [x, bias, out, ...numbers]);
    const [plain, gradients] = expectedGelu(x, bias, of);
    near(out, plain, 0.01, "gelu");
    runOnHost("bias_gelu_gradient", size, [x, bias, of, ofX, sums, ...numbers]);
    near(ofX, gradients[0], 0.01, "gradient");
    near(sums.sum(0), gradients[1], 0.01, "gradient of the bias");
  });
}

test("on a GPU GELU's numbers and gradients are the plain operators'", { skip: gpu }, () => {
  const [x, bias, of] = [bf16([150, 264], 1, "cuda"), bf16([264], 2, "cuda"), bf16([150, 264], 3, "cuda")];
  const leaves = [x.clone().requiresGrad_(), bias.clone().requiresGrad_()] as const;
  const out = fusedBiasGelu(...leaves);
  const [plain, gradients] = expectedGelu(x, bias, of);
  near(out?.detach(), plain, 0.01, "gelu");
  const ours = grad([out!], leaves, { gradOutputs: [of] }) as Tensor[];
  for (const [i, each] of ours.entries()) near(each, gradients[i], 0.01, `gradient ${i}`);
});

test("sequences that do not fit in shared memory are left to the library", () => {
  const sizes = { length: 64, heads: 4, width: 48, causal: false, rotates: false };
  assert.ok(shortAttentionFits(sizes));
  assert.ok(!shortAttentionFits({ ...sizes, length: 65 }));
  assert.ok(!shortAttentionFits({ ...sizes, width: 64 }));
  assert.ok(!shortAttentionFits({ ...sizes, width: 40 }));
});
