/** How tests of fused kernels draw numbers and compare them with plain operators'. */
import assert from "node:assert/strict";
import { cudaAvailable, type Device, Generator, randn, type Tensor } from "#tensor";

export const gpu = cudaAvailable() ? false : "needs a GPU";
export const eps = 1e-6;

export const bf16 = (shape: number[], seed: number, device: Device = "cpu"): Tensor =>
  randn(shape, { generator: new Generator(seed) })
    .to({ device })
    .bfloat16();

/** Largest difference relative to the size of the numbers. */
export function near(
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
export const leaf = (x: Tensor): Tensor => x.detach().float().requiresGrad_();
