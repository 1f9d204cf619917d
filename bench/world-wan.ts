/** Wan for the worlds bench: the 5-billion diffusion transformer and its video autoencoder, or both tiny. */
import { cat, stack } from "#tensor";
import { WanDiT } from "../src/worlds/wan/model.ts";
import { wanSizes } from "../src/worlds/wan/sizes.ts";
import { WanVAE } from "../src/worlds/wan/vae.ts";
import { type WanParts, WanWorld } from "../src/worlds/wan/wan-world.ts";
import { type Family, randomized } from "./world-family.ts";

const [chunk, memory, steps, vaeBatch] = [8, 5, 5, 8];
const tinySizes = {
  dim: 64,
  num_heads: 2,
  ffn_dim: 96,
  num_layers: 2,
  freq_dim: 32,
  vae_dim: 16,
  vae_dec_dim: 16,
};

/** Two per weight and token of the transformer, its attention, and the autoencoder both ways (as published: 17.2 T). */
function operations(): number {
  const { dim: D, ffn_dim: F, num_layers: layers } = wanSizes.parse({});
  const [tokens, actions] = [256, memory + chunk];
  const block = tokens * (2 * (6 * D * D + 2 * D * F) + 4 * (tokens + actions) * D);
  return steps * layers * block + 1.22e12 + 15.96e12;
}

export const wan: Family = {
  name: "wan",
  goal: 100,
  frameTolerance: 1.01 * (2 / 255), // frames are bytes
  operations: operations(),
  build(tiny, place) {
    const sizes = wanSizes.parse(tiny ? tinySizes : {});
    const image = tiny ? 64 : 256;
    const spread = tiny ? undefined : 0.02;
    const parts: WanParts = {
      denoiser: randomized(new WanDiT(sizes, place), place.device, spread),
      vae: randomized(new WanVAE(sizes, place), place.device, spread),
      sizes,
      imageSize: [image, image],
      chunk,
      memoryFrames: memory,
      steps,
      gripperOpen: true,
      vaeMicroBatch: vaeBatch,
    };
    const world = new WanWorld(parts);
    return {
      world,
      short: new WanWorld({ ...parts, steps: 1, cudaGraph: false }),
      sizes: { ...sizes, image, chunk, memory, steps, vae_batch: vaeBatch },
      weights: () =>
        new Map([...parts.denoiser.namedParameters("denoiser."), ...parts.vae.namedParameters("vae.")]),
      inputs: (memories, actions, noise) => {
        const before = stack(memories.map((one) => one.actions!));
        return new Map([
          ["frames", stack(memories.map(({ frames }) => frames!))],
          ["actions", cat([before, actions.to({ device: before.device })], 1)],
          ["noise", noise.drawn.get("latents")!.at(-1)!],
        ]);
      },
      dispose() {
        world.to({}); // lets go of captured graphs
        parts.denoiser.dispose();
        parts.vae.dispose();
      },
    };
  },
};
