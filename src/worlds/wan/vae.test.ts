import assert from "node:assert/strict";
import { test } from "node:test";
import { Generator, randn, type Tensor } from "#tensor";
import { assertClose } from "../../../test/support/close.ts";
import { wanSizes } from "./sizes.ts";
import { WanVAE } from "./vae.ts";

const sizes = wanSizes.parse({
  z_dim: 4,
  vae_dim: 4,
  vae_dec_dim: 4,
  dim_mult: [1, 1, 2, 2],
  num_res_blocks: 1,
  vae_mean: [0.1, 0, -0.1, 0.2],
  vae_std: [1, 2, 1, 0.5],
});

function near(ours: Tensor, theirs: Tensor): void {
  assertClose(ours, theirs, 1e-9);
  assert.ok(Number(theirs.std().item()) > 1e-3, "there is nothing to compare");
}

for (const [dim_mult, side] of [
  [[1, 1, 2, 2], 16],
  [[1, 2, 2], 8],
] as const) {
  test(`${dim_mult.length} levels make latents ${side} times smaller and four times shorter, in two pieces as in a stream of many`, () => {
    const vae = new WanVAE({ ...sizes, dim_mult: [...dim_mult] }, { dtype: "float64" });
    const generator = new Generator(3);
    for (const weight of vae.namedParameters().values())
      weight.detach().copy_(
        randn([...weight.shape], { generator })
          .double()
          .mul(0.3),
      );
    const video = randn([2, 3, 13, 32, 32], { generator }).double();
    const streamed = vae.encode(video, false).detach();
    assert.deepEqual(streamed.shape, [2, 4, 4, 32 / side, 32 / side]);
    near(vae.encode(video, true).detach(), streamed);
    const decoded = vae.decodeFree(streamed, false).detach();
    assert.deepEqual(decoded.shape, video.shape);
    near(vae.decodeFree(streamed, true).detach(), decoded);
  });
}
