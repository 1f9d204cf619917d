/** OpenSora for the worlds bench: STDiT3-XL/2 and SDXL's autoencoder, or both tiny. */
import { stack } from "#tensor";
import { AutoencoderKL, sdxlSizes } from "../src/worlds/autoencoder-kl/autoencoder-kl.ts";
import { STDiT3 } from "../src/worlds/opensora/model.ts";
import { type OpenSoraParts, OpenSoraWorld } from "../src/worlds/opensora/opensora-world.ts";
import { stdit3Sizes } from "../src/worlds/opensora/sizes.ts";
import { type Family, randomized } from "./world-family.ts";

const [chunk, memory, steps, vaeBatch] = [8, 4, 10, 64];
const tinyDenoiser = { depth: 2, hidden_size: 64, num_heads: 2 };
const tinyVae = { block_out_channels: [32, 32, 64, 64], layers_per_block: 1 };

/** Eight new frames in every step and four of memory once, two products of attention, and the decoder. */
function operations(): number {
  const { hidden_size: D, depth, mlp_ratio } = stdit3Sizes.parse({});
  const patches = 256;
  const token = 2 * (4 + 2 * mlp_ratio) * D * D;
  const block = (looks: number) => token + 4 * looks * D;
  const tokens = patches * (chunk * steps + memory);
  const decoded = 0.622e12; // one 256 × 256 picture
  return tokens * depth * (block(patches) + block(memory + chunk)) + chunk * decoded;
}

export const opensora: Family = {
  name: "opensora",
  goal: 50,
  frameTolerance: 1e-3,
  operations: operations(),
  build(tiny, place) {
    const denoiserSizes = stdit3Sizes.parse({ text_weights: false, ...(tiny && tinyDenoiser) });
    const vaeSizes = { ...sdxlSizes, ...(tiny && tinyVae) };
    const image = tiny ? 64 : 256;
    const spread = tiny ? undefined : 0.02;
    const parts: OpenSoraParts = {
      denoiser: randomized(new STDiT3(denoiserSizes, place), place.device, spread),
      vae: randomized(new AutoencoderKL(vaeSizes, place), place.device, spread),
      statistics: { low: Array<number>(7).fill(-1), high: Array<number>(7).fill(1) },
      imageSize: [image, image],
      chunk,
      memoryFrames: memory,
      steps,
      vaeMicroBatch: vaeBatch,
    };
    const world = new OpenSoraWorld(parts);
    return {
      world,
      short: new OpenSoraWorld({ ...parts, steps: 1, cudaGraph: false }),
      sizes: { denoiser: denoiserSizes, vae: vaeSizes, image, chunk, memory, steps, vae_batch: vaeBatch },
      weights: () =>
        new Map([...parts.denoiser.namedParameters("denoiser."), ...parts.vae.namedParameters("vae.")]),
      inputs: (memories, actions, noise) =>
        new Map([
          ["memory", stack(memories.map(({ latents }) => latents!))],
          ["actions", world.normalize(actions)],
          ["noise", noise.drawn.get("latents")!.at(-1)!],
        ]),
      dispose() {
        world.to({}); // lets go of captured graphs
        parts.denoiser.dispose();
        parts.vae.dispose();
      },
    };
  },
};
