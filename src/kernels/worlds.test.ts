import assert from "node:assert/strict";
import { test } from "node:test";
import {
  attention,
  channelsLast,
  GroupNorm,
  gelu,
  geluTanh,
  LayerNorm,
  Linear,
  RMSNorm,
  rotateInterleaved,
  silu,
} from "#nn";
import { aten, cat, cudaAvailable, Generator, noGrad, ones, rand, randn, type Tensor } from "#tensor";
import {
  fusedChannelNorm,
  fusedFrameAttention,
  fusedGatedGelu,
  fusedGatedSum,
  fusedHeadNorm,
  fusedModulatedNorm,
  fusedNormTaps,
  fusedRmsNormRotary,
  fusedSumNorm,
} from "./index.ts";

const skip = cudaAvailable() ? false : "needs a GPU";
const bf16 = (shape: number[], seed = 1): Tensor =>
  randn(shape, { device: "cuda", generator: new Generator(seed, "cuda") }).bfloat16();

/** Share of elements that differ, and the largest difference relative to the size of the numbers. */
function near(ours: Tensor | null | undefined, plain: Tensor, share = 0.02): void {
  assert.ok(ours, "the kernel stepped aside");
  const difference = ours.float().sub(plain.float()).abs();
  const differing = difference.gt(0).float().mean().item();
  const worst = difference.amax().div(plain.float().abs().amax()).item();
  assert.ok(differing < share && worst < 0.01, `${differing} differ, worst ${worst}`);
}

const plainNorm = (x: Tensor): Tensor => aten.layer_norm(x, [x.shape.at(-1)!], null, null, 1e-6);

test("without a GPU the kernels of worlds step aside", () => {
  const x = randn([2, 16]);
  const by = { table_GKD: randn([2, 6, 16]), shift: 0, scale: 1 };
  assert.equal(fusedModulatedNorm(x, by, 1e-6), null);
  assert.equal(fusedSumNorm(x, x, { by }, 1e-6), null);
  assert.equal(fusedGatedSum(x, x, by.table_GKD, 2), null);
  assert.equal(fusedGatedGelu(x), null);
  assert.equal(fusedChannelNorm(x, randn([16]), true), null);
});

test("what a layer norm adds to and hides behind is the same without a kernel", () => {
  const [x, branch, norm] = [randn([3, 16]), randn([3, 16]), new LayerNorm(16)];
  const { sum, normed } = norm.forwardSum(x, branch);
  assert.equal(sum.sub(x.add(branch)).abs().amax().item(), 0);
  assert.equal(
    normed
      .sub(norm.forward(x.add(branch)))
      .abs()
      .amax()
      .item(),
    0,
  );
});

test("modulated norms equal the plain operators, with and without a branch", { skip }, () => {
  noGrad(() => {
    for (const width of [72, 1152, 3072]) {
      const [x, branch, table] = [bf16([2, 3, 5, width]), bf16([2, 3, 5, width], 2), bf16([6, 6, width], 3)];
      const row = (at: number): Tensor => table.view([2, 3, 6, 1, width]).select(2, at);
      const modulated = (of: Tensor): Tensor => plainNorm(of).mul(row(1).add(1)).add(row(0));
      const by = { table_GKD: table, shift: 0, scale: 1 };
      near(fusedModulatedNorm(x, by, 1e-6), modulated(x));
      const gatedSum = x.add(row(2).mul(branch));
      const gate = { table_GKD: table, gate: 2 };
      const fused = fusedSumNorm(x, branch.clone(), { gate, by }, 1e-6);
      near(fused?.sum, gatedSum);
      near(fused?.normed, modulated(gatedSum));
      near(fusedGatedSum(x, branch.clone(), table, 2), gatedSum);
      near(fusedSumNorm(x, branch.clone(), { by }, 1e-6)?.normed, modulated(x.add(branch)));
      const [weight, bias] = [bf16([width], 4), bf16([width], 5)];
      const learned = fusedSumNorm(x, branch.clone(), { gate, by: { weight, bias } }, 1e-6);
      near(learned?.normed, aten.layer_norm(gatedSum, [width], weight, bias, 1e-6));
    }
  });
});

test("the gated GELU of both halves, and GELU inside a matrix product, equal the plain operators", {
  skip,
}, () => {
  noGrad(() => {
    const both = bf16([37, 96]);
    const [value, gate] = both.chunk(2, -1);
    near(fusedGatedGelu(both), value!.mul(gelu(gate!)));
    const linear = new Linear(64, 128, { device: "cuda", dtype: "bfloat16" });
    linear.weight.copy_(bf16([128, 64], 2).mul(0.2));
    linear.bias!.copy_(bf16([128], 3));
    const x = bf16([3, 50, 64], 4);
    // inside the product the activation sees numbers that were not rounded yet
    near(linear.forwardGeluTanh(x), geluTanh(linear.forward(x)), 0.5);
  });
});

test("queries and keys are normed and turned in place as by the plain operators", { skip }, () => {
  const [frames, patches] = [3, 5];
  const sizes = [
    { videos: 2, heads: 4, width: 72 }, // several pairs of tokens in a block
    { videos: 1, heads: 16, width: 72 }, // an odd number of tokens
    { videos: 1, heads: 24, width: 128 },
  ];
  for (const { videos, heads, width } of sizes) {
    noGrad(() => {
      const qkv = bf16([videos, frames, patches, 3, heads, width]);
      const norms = [0, 1].map(() => new RMSNorm(width, { device: "cuda", dtype: "bfloat16" }));
      for (const [i, norm] of norms.entries()) norm.weight.copy_(bf16([width], 7 + i));
      const [cos, sin] = [bf16([9, width / 2], 2), bf16([9, width / 2], 3)];
      const [first, parts] = [4, { q: norms[0]!.weight, k: norms[1]!.weight, eps: 1e-6 }];
      const ours = fusedHeadNorm(qkv.clone(), { ...parts, rotary: { cos, sin, first } });
      const table = (x: Tensor): Tensor => x.narrow(0, first, frames).view([1, frames, 1, 1, width / 2]);
      for (const part of [0, 1]) {
        const normed = norms[part]!.forward(qkv.select(3, part).contiguous());
        near(ours?.select(3, part), rotateInterleaved(normed, { cos: table(cos), sin: table(sin) }));
      }
      near(ours?.select(3, 2), qkv.select(3, 2), 1e-9);
    });
  }
});

test("a norm over all heads and the turning of each equal the two steps", { skip }, () => {
  noGrad(() => {
    const [length, heads, head] = [6, 3, 64];
    const norm = new RMSNorm(heads * head, { device: "cuda", dtype: "bfloat16" });
    norm.weight.copy_(bf16([heads * head], 2));
    const x = bf16([2, length, heads * head]);
    const [cos, sin] = [
      rand([length, head / 2], { device: "cuda" }),
      rand([length, head / 2], { device: "cuda" }),
    ];
    const normed = norm.forward(x).view([2, length, heads, head]).float();
    const turned = rotateInterleaved(normed, { cos: cos.unsqueeze(1), sin: sin.unsqueeze(1) });
    const ours = fusedRmsNormRotary(x, norm.weight, { cos, sin }, 1e-6);
    near(ours?.view([2, length, heads, head]), turned.bfloat16());
  });
});

test("attention over frames equals the library's, after remembered frames or without", { skip }, () => {
  noGrad(() => {
    const [videos, frames, memory, patches, heads, width] = [2, 8, 4, 3, 5, 72];
    const qkv = bf16([videos, frames, patches, 3, heads, width]);
    const past = bf16([videos, memory, patches, 2, heads, width], 2);
    const [q, k, v] = qkv.unbind(3) as [Tensor, Tensor, Tensor];
    const stride = 3 * heads * width;
    const parts = { q, k, v, strides: [stride, stride, stride] } as const;
    const rows = (x: Tensor): Tensor => x.permute([0, 2, 3, 1, 4]).flatten(0, 1).float();
    const back = (x: Tensor): Tensor =>
      x.unflatten(0, [videos, patches]).permute([0, 3, 1, 2, 4]).flatten(3).bfloat16();
    const mask = ones([frames, memory + frames], { dtype: "bool", device: "cuda" }).tril(memory);
    const [pastK, pastV] = past.unbind(3) as [Tensor, Tensor];
    const plain = attention(rows(q), rows(cat([pastK, k], 1)), rows(cat([pastV, v], 1)), { mask });
    near(fusedFrameAttention(parts, { past_BMS2HE: past, causal: true }), back(plain));
    near(fusedFrameAttention(parts, { causal: false }), back(attention(rows(q), rows(k), rows(v))));
  });
});

test("norms of pictures with channels last equal the plain ones, flat areas and all", { skip }, () => {
  noGrad(() => {
    for (const [channels, side] of [
      [128, 40],
      [320, 21],
      [2560, 8],
    ] as const) {
      const norm = new GroupNorm(32, channels, { eps: 1e-6, device: "cuda", dtype: "bfloat16" });
      norm.weight.copy_(bf16([channels], 2));
      norm.bias.copy_(bf16([channels], 3));
      const x = bf16([2, channels, side, side]).mul(0.5).add(3);
      const plain = aten.group_norm(x.float(), 32, norm.weight.float(), norm.bias.float(), 1e-6).bfloat16();
      near(norm.forward(channelsLast(x)), plain);
      near(norm.forwardSilu(channelsLast(x)), silu(plain));
    }
    const [x, gamma] = [bf16([70, 160]), bf16([160], 2)];
    const length = aten.linalg_vector_norm(x, 2, [1], true).clamp(1e-12);
    near(fusedChannelNorm(x, gamma, true), silu(x.div(length).mul(Math.sqrt(160)).mul(gamma)));
  });
});

test("norms before causal convolutions write frames to where those read them", { skip }, () => {
  noGrad(() => {
    const [videos, channels, frames, side] = [2, 64, 3, 5];
    const x = bf16([videos, channels, frames, side, side]);
    const norm = new GroupNorm(32, channels, { device: "cuda", dtype: "bfloat16" });
    const plain = norm.forwardSilu(channelsLast(x)).permute([0, 2, 3, 4, 1]);
    const first = plain.narrow(1, 0, 1);
    near(norm.fusedSiluLeading(channelsLast(x)), cat([first, first, plain], 1), 1e-9);

    const [rows, gamma] = [bf16([videos, frames, side, channels], 2), bf16([channels], 3)];
    const past = bf16([videos, 2, side, channels], 4);
    const joined = cat([past, fusedChannelNorm(rows, gamma, true)!], 1);
    const beside = [0, 1, 2].map((from) => joined.narrow(1, from, frames));
    near(fusedNormTaps(rows, gamma, past), cat(beside, 3), 1e-9);
    const alone = cat([past.narrow(1, 0, 1).mul(0), joined.narrow(1, 1, frames + 1)], 1);
    const afterOne = [0, 1, 2].map((from) => alone.narrow(1, from, frames));
    near(fusedNormTaps(rows, gamma, past.narrow(1, 1, 1).contiguous()), cat(afterOne, 3), 1e-9);
  });
});
