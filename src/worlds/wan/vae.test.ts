import assert from "node:assert/strict";
import { test } from "node:test";
import { Generator, randn, type Tensor } from "#tensor";
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
  assert.deepEqual(ours.shape, theirs.shape);
  const worst = Number(ours.sub(theirs).abs().max().item());
  assert.ok(worst < 1e-9, `differs by ${worst}`);
  assert.ok(Number(theirs.std().item()) > 1e-3, "there is nothing to compare");
}

test("a video in two pieces is encoded and decoded as in a stream of many", () => {
  const vae = new WanVAE(sizes, { dtype: "float64" });
  const generator = new Generator(3);
  for (const weight of vae.namedParameters().values())
    weight.detach().copy_(
      randn([...weight.shape], { generator })
        .double()
        .mul(0.3),
    );
  const video = randn([2, 3, 13, 32, 32], { generator }).double();
  const streamed = vae.encode(video, false).detach();
  near(vae.encode(video, true).detach(), streamed);
  near(vae.decodeFree(streamed, true).detach(), vae.decodeFree(streamed, false).detach());
});
