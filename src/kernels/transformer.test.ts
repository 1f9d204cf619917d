import assert from "node:assert/strict";
import { test } from "node:test";
import { rotateHalves, silu } from "#nn";
import { arange, cat, cudaAvailable, Generator, grad, noGrad, randn, type Tensor } from "#tensor";
import { fusedAddRmsNorm, fusedGatedSilu, fusedRmsNorm, fusedRotateHalves } from "./index.ts";

const skip = cudaAvailable() ? false : "needs a GPU";
const options = () => ({ device: "cuda", generator: new Generator(1, "cuda") }) as const;
const bf16 = (shape: number[]): Tensor => randn(shape, options()).bfloat16();

/** Share of elements that differ, and the largest difference relative to the size of the numbers. */
function compare(ours: Tensor, plain: Tensor): { differing: number; worst: number } {
  const difference = ours.float().sub(plain.float()).abs();
  const scale = plain.float().abs().amax();
  return { differing: difference.gt(0).float().mean().item(), worst: difference.amax().div(scale).item() };
}

test("without a GPU, or with gradients, the fused kernels step aside", () => {
  const x = randn([2, 16]);
  assert.equal(fusedRmsNorm(x, randn([16]), 1e-6), null);
  assert.equal(fusedAddRmsNorm(x, x, randn([16]), 1e-6), null);
  assert.equal(fusedGatedSilu(x, x), null);
});

const plainNorm = (x: Tensor, w: Tensor): Tensor => {
  const wide = x.float();
  return w.mul(wide.mul(wide.square().mean(-1, true).add(1e-6).rsqrt()).bfloat16());
};

test("the fused norm equals the plain one but for the order of its sum", { skip }, () => {
  noGrad(() => {
    const [x, w] = [bf16([70, 4096]), bf16([4096])];
    const { differing, worst } = compare(fusedRmsNorm(x, w, 1e-6) as Tensor, plainNorm(x, w));
    assert.ok(differing < 0.01 && worst < 0.01, `${differing} differ, worst ${worst}`);
  });
});

test("the fused norm's gradients are the plain one's, and its numbers do not depend on whether they are recorded", {
  skip,
}, () => {
  const [x, w, g] = [bf16([70, 512]), bf16([512]), bf16([70, 512])];
  const free = noGrad(() => fusedRmsNorm(x, w, 1e-6) as Tensor);
  const leaves = [x.clone().requiresGrad_(), w.clone().requiresGrad_()] as const;
  const recorded = fusedRmsNorm(...leaves, 1e-6) as Tensor;
  assert.equal(compare(recorded.detach(), free).differing, 0);
  const ours = grad([recorded], leaves, { gradOutputs: [g] });
  const plain = grad([plainNorm(...leaves)], leaves, { gradOutputs: [g] });
  for (const i of [0, 1]) {
    const { worst } = compare(ours[i] as Tensor, plain[i] as Tensor);
    assert.ok(worst < 0.02, `gradient ${i} is off by ${worst}`);
  }
});

test("a residual sum and its norm in one kernel equal the two steps", { skip }, () => {
  noGrad(() => {
    const [x, branch, w] = [bf16([70, 1024]), bf16([70, 1024]), bf16([1024])];
    const sum = x.add(branch);
    const ours = fusedAddRmsNorm(x, branch.clone(), w, 1e-6)!;
    assert.equal(compare(ours.sum, sum).differing, 0);
    const { differing, worst } = compare(ours.normed, plainNorm(sum, w));
    assert.ok(differing < 0.01 && worst < 0.01, `${differing} differ, worst ${worst}`);
  });
});

test("the fused gate equals silu(gate) · up to the bit", { skip }, () => {
  noGrad(() => {
    const [gate, up] = [bf16([33, 1000]), bf16([33, 1000])];
    const plain = silu(gate).mul(up);
    const { differing } = compare(fusedGatedSilu(gate.clone(), up) as Tensor, plain);
    assert.ok(differing < 1e-3, `${differing} of the elements differ`);
  });
});

test("the fused rotation turns each head as the plain operators do, with one table or one per row", {
  skip,
}, () => {
  noGrad(() => {
    const [batch, length, heads, width] = [3, 37, 4, 64];
    for (const rows of [1, batch]) {
      const angles = arange(0, rows * length, 1, { device: "cuda" })
        .reshape([rows, 1, length, 1])
        .mul(bf16([1, 1, 1, width / 2]).float());
      const cos = cat([angles, angles], -1).cos().bfloat16();
      const sin = cat([angles, angles], -1).sin().bfloat16();
      const x = bf16([batch, length, heads * width]);
      const split = (t: Tensor) => t.view([batch, length, heads, width]).transpose(1, 2);
      const plain = rotateHalves(split(x), { cos, sin });
      const { differing, worst } = compare(
        split(fusedRotateHalves(x.clone(), heads, cos, sin) as Tensor),
        plain,
      );
      assert.ok(differing < 0.01 && worst < 0.01, `${differing} differ, worst ${worst}`);
    }
  });
});

/** Gradients of `leaves` through two results that should be the same function. */
function compareGradients(ours: Tensor, plain: Tensor, leaves: readonly Tensor[], g: Tensor): number {
  const [first, second] = [ours, plain].map((y) => grad([y], leaves, { gradOutputs: [g] }));
  return Math.max(...leaves.map((_, i) => compare(first![i] as Tensor, second![i] as Tensor).worst));
}

test("gradients flow through the fused gate as through silu(gate) · up", { skip }, () => {
  const leaves = [bf16([33, 1000]).requiresGrad_(), bf16([33, 1000]).mul(2).requiresGrad_()] as const;
  const through = (f: (gate: Tensor, up: Tensor) => Tensor) => f(leaves[0].mul(1), leaves[1].mul(1));
  const ours = through((gate, up) => fusedGatedSilu(gate, up) as Tensor);
  const plain = through((gate, up) => silu(gate).mul(up));
  assert.ok(compare(ours.detach(), plain.detach()).worst < 0.01);
  const worst = compareGradients(ours, plain, leaves, bf16([33, 1000]));
  assert.ok(worst < 0.01, `off by ${worst}`);
});

test("gradients flow through the fused rotation as through the plain one", { skip }, () => {
  const [batch, length, heads, width] = [3, 37, 4, 64];
  const angles = arange(0, batch * length, 1, { device: "cuda" })
    .reshape([batch, 1, length, 1])
    .mul(bf16([1, 1, 1, width / 2]).float());
  const cos = cat([angles, angles], -1).cos().bfloat16();
  const sin = cat([angles, angles], -1).sin().bfloat16();
  const weight = bf16([heads * width, 48]).requiresGrad_();
  const made = () => bf16([batch, length, 48]).matmul(weight.transpose(0, 1));
  const split = (t: Tensor) => t.view([batch, length, heads, width]).transpose(1, 2);
  const ours = split(fusedRotateHalves(made(), heads, cos, sin) as Tensor);
  const plain = rotateHalves(split(made()), { cos, sin });
  assert.ok(compare(ours.detach(), plain.detach()).worst < 0.01);
  const worst = compareGradients(ours, plain, [weight], bf16([batch, heads, length, width]));
  assert.ok(worst < 0.02, `off by ${worst}`);
});
