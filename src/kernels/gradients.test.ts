/** Kernels of learning networks against plain operators: their sources on the CPU (test/kernels), and on a GPU where there is one. */
import { test } from "node:test";
import { aten, cat, type Device, Generator, grad, randn, type Tensor, zeros } from "#tensor";
import { bf16, eps, gpu, leaf, near } from "../../test/kernels/compare.ts";
import { hostCompiler, runOnHost } from "../../test/kernels/run-on-host.ts";
import { rotateInterleaved, silu } from "../nn/index.ts";
import { channelNormKernels, channelNormLaunch, recordedChannelNorm } from "./channel-norm-gradient.ts";
import { groupNormKernels, groupNormThreads, recordedGroupNorm } from "./group-norm-gradient.ts";
import { fusedRotatePairs, rotatePairsLaunch } from "./rotate-gradient.ts";
import { fusedJunction, joinKernels } from "./rows-gradient.ts";
import { type Before, frameTapsLaunch, fusedFrameTaps } from "./taps-gradient.ts";

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
  [192, 32, true],
  [48, 8, false],
] as const) {
  const pixels = channels === 192 ? 16 : 90;
  const what = `${channels} channels, ${groups} groups${withSilu ? ", SiLU" : ""}`;
  test(`the group norm's sources give the plain operators' numbers and gradients: ${what}`, {
    skip: hostCompiler,
  }, () => {
    const [given, of] = [picture(2, pixels, channels), bf16([2, pixels, channels], 4)];
    const { name } = groupNormKernels(channels, withSilu);
    const { x, weight, bias } = given;
    const [out, ofX] = [zeros(x.shape).bfloat16(), zeros(x.shape).bfloat16()];
    const [statistics, parts] = [zeros([2, channels, 2]), zeros([2, 2 * channels])];
    const size = { blocks: 2, threads: groupNormThreads(channels, pixels) };
    const numbers = [{ int: (pixels * channels) / 8 }, { int: groups }];
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
    const [given, of] = [picture(2, pixels, channels, "cuda"), bf16([2, pixels, channels], 4, "cuda")];
    const leaves = Object.values(given).map((x: Tensor) => x.clone().requiresGrad_());
    const parts = { groups, weight: leaves[1]!, bias: leaves[2]!, eps, silu: withSilu };
    const out = recordedGroupNorm(leaves[0]!, parts);
    const [plain, gradients] = expectedNorm(given, groups, withSilu, of);
    near(out?.detach(), plain, 0.01, "norm");
    const ours = grad([out!], leaves, { gradOutputs: [of] }) as Tensor[];
    for (const [i, each] of ours.entries()) near(each, gradients[i], 0.015, `gradient ${i}`);
  });
}

/** Each frame beside the two before it, with `missing` frames before the first. */
function plainTaps(x_BTPC: Tensor, { missing, standIn }: Before): Tensor {
  const first = x_BTPC.narrow(1, 0, 1);
  const before = Array.from({ length: missing }, () => (standIn === "first" ? first : first.mul(0)));
  const led = cat([...before, x_BTPC], 1);
  return cat(
    [0, 1, 2].map((tap) => led.narrow(1, tap, led.shape[1]! - 2)),
    3,
  );
}

for (const [frames, missing, standIn] of [
  [1, 2, "first"],
  [2, 2, "first"],
  [5, 2, "first"],
  [5, 2, "zeros"],
  [5, 1, "zeros"],
  [5, 0, "zeros"],
  [2, 1, "zeros"],
] as const) {
  const [shape, made] = [[2, frames, 3, 24], frames + missing - 2];
  const [before, what] = [{ missing, standIn }, `${frames} frames, ${missing} missing, ${standIn}`];
  test(`the sources of frames side by side give the plain operators' numbers and gradients: ${what}`, {
    skip: hostCompiler,
  }, () => {
    const [x, of] = [bf16(shape, 1), bf16([2, made, 3, 72], 2)];
    const { there, back } = frameTapsLaunch(shape, before);
    const [out, ofX] = [zeros(of.shape).bfloat16(), zeros(shape).bfloat16()];
    runOnHost("frame_taps", there.size, [x, out, ...there.numbers]);
    const own = leaf(x);
    const plain = plainTaps(own, before);
    near(out, plain.detach(), 1e-6, "frames");
    runOnHost("frame_taps_gradient", back.size, [of, ofX, ...back.numbers]);
    near(ofX, grad([plain], [own], { gradOutputs: [of.float()] })[0], 0.005, "gradient");
  });

  test(`on a GPU frames side by side and their gradients are the plain operators': ${what}`, {
    skip: gpu,
  }, () => {
    const [x, of] = [bf16(shape, 1, "cuda"), bf16([2, made, 3, 72], 2, "cuda")];
    const [ours, own] = [x.clone().requiresGrad_(), leaf(x)];
    const [out, plain] = [fusedFrameTaps(ours, before), plainTaps(own, before)];
    near(out?.detach(), plain.detach(), 1e-6, "frames");
    const [first] = grad([out!], [ours], { gradOutputs: [of] });
    const [second] = grad([plain], [own], { gradOutputs: [of.float()] });
    near(first, second, 0.005, "gradient");
  });
}

function plainChannelNorm(x: Tensor, gamma: Tensor, withSilu: boolean): Tensor {
  const length = aten.linalg_vector_norm(x, 2, [-1], true);
  const normed = x.div(length).mul(Math.sqrt(gamma.numel)).mul(gamma);
  return withSilu ? silu(normed) : normed;
}

for (const [channels, count, withSilu] of [
  [24, 100, true],
  [32, 65, true],
  [48, 33, false],
  [96, 70, true],
  [128, 5, true],
  [256, 40, true],
] as const) {
  const given = (device: Device = "cpu") =>
    [
      bf16([count, channels], 1, device),
      bf16([channels], 2, device),
      bf16([count, channels], 3, device),
    ] as const;
  const expected = ([x, gamma, of]: readonly Tensor[]): [Tensor, Tensor[]] => {
    const leaves = [leaf(x!), leaf(gamma!)] as const;
    const out = plainChannelNorm(...leaves, withSilu);
    return [out.detach(), grad([out], leaves, { gradOutputs: [of!.float()] }) as Tensor[]];
  };
  const what = `${count} rows of ${channels} channels${withSilu ? ", SiLU" : ""}`;
  test(`the channel norm's sources give the plain operators' numbers and gradients: ${what}`, {
    skip: hostCompiler,
  }, () => {
    const [x, gamma, of] = given();
    const { name } = channelNormKernels(channels, withSilu);
    const { size, numbers } = channelNormLaunch(count, channels);
    const [out, ofX] = [zeros(x.shape).bfloat16(), zeros(x.shape).bfloat16()];
    const parts = zeros([size.blocks, channels]);
    runOnHost(name, size, [x, gamma, out, ...numbers]);
    runOnHost(`${name}_gradient`, size, [x, gamma, of, ofX, parts, ...numbers]);
    const [plain, gradients] = expected([x, gamma, of]);
    near(out, plain, 0.015, "norm");
    near(ofX, gradients[0], 0.015, "gradient of the rows");
    near(parts.sum(0), gradients[1], 0.015, "gradient of gamma");
  });

  test(`on a GPU the channel norm's numbers and gradients are the plain operators': ${what}`, {
    skip: gpu,
  }, () => {
    const [x, gamma, of] = given("cuda");
    const leaves = [x.clone().requiresGrad_(), gamma.clone().requiresGrad_()] as const;
    const out = recordedChannelNorm(...leaves, withSilu);
    const ours = grad([out!], leaves, { gradOutputs: [of] }) as Tensor[];
    const [plain, gradients] = expected([x, gamma, of]);
    near(out?.detach(), plain, 0.015, "norm");
    for (const [i, each] of ours.entries()) near(each, gradients[i], 0.015, `gradient ${i}`);
  });
}

test("a channel norm of more rows than one round of blocks takes goes round", { skip: hostCompiler }, () => {
  const [x, gamma] = [bf16([40, 24], 1), bf16([24], 2)];
  const { name } = channelNormKernels(24, true);
  const { numbers } = channelNormLaunch(40, 24);
  const [out, padded] = [zeros(x.shape).bfloat16(), { int: 64 }];
  runOnHost(name, { blocks: 1, threads: 256 }, [x, gamma, out, numbers[0]!, padded, numbers[2]!]);
  near(out, plainChannelNorm(x.float(), gamma.float(), true), 0.015, "norm");
});
