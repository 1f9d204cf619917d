/**
 * A very small OpenSora world with random weights, its reward model and starts: real parts, for tests that need no meaning.
 *
 * 16-pixel pictures, two denoising steps; a chunk takes milliseconds on one core.
 */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Starts, writeTrajectory } from "#envs";
import { initNormal, type Module } from "#nn";
import { ResnetReward } from "#rewards";
import { Generator } from "#tensor";
import { AutoencoderKL, sdxlSizes } from "../../src/worlds/autoencoder-kl/autoencoder-kl.ts";
import { STDiT3 } from "../../src/worlds/opensora/model.ts";
import { OpenSoraWorld } from "../../src/worlds/opensora/opensora-world.ts";
import { stdit3Sizes } from "../../src/worlds/opensora/sizes.ts";

const side = 16;

export function tinyWorld(): OpenSoraWorld {
  const generator = new Generator(7);
  const tiny = { depth: 1, hidden_size: 32, num_heads: 2, caption_channels: 4, model_max_length: 2 };
  const sizes = { ...sdxlSizes, block_out_channels: [8, 8, 8, 8], layers_per_block: 1, norm_num_groups: 4 };
  return new OpenSoraWorld({
    denoiser: randomized(new STDiT3(stdit3Sizes.parse(tiny)), generator),
    vae: randomized(new AutoencoderKL(sizes), generator),
    statistics: { low: Array<number>(7).fill(-1), high: Array<number>(7).fill(1) },
    imageSize: [side, side],
    chunk: 8,
    memoryFrames: 4,
    steps: 2,
    vaeMicroBatch: 64,
  });
}

/** Answers around 0.5, so that about half of its verdicts are successes. */
export function tinyRewardModel(): ResnetReward {
  const rewardModel = new ResnetReward([4, 4, 4, 4]);
  randomized(rewardModel.network, new Generator(11));
  return rewardModel;
}

export function tinyStarts(world: OpenSoraWorld, count = 6): Starts {
  const folder = mkdtempSync(join(tmpdir(), "reverie-starts-"));
  for (let i = 0; i < count; i++) {
    const data = Uint8Array.from({ length: side * side * 3 }, (_, at) => (at * (i + 3) * 31) % 256);
    writeTrajectory(join(folder, `traj${i}.npy`), [
      { image: { data, shape: [side, side, 3] }, instruction: `task ${i}` },
    ]);
  }
  return new Starts(folder, world, { enableKir: false });
}

/** Norms and running statistics keep their ones and zeros; everything else is drawn. */
function randomized<M extends Module>(module: M, generator: Generator): M {
  for (const [name, value] of module.namedParameters()) {
    const fan = value.shape.slice(1).reduce((product, size) => product * size, 1);
    if (value.ndim > 1) initNormal(value, 1 / Math.sqrt(fan), generator);
    else if (name === "rope.freqs") initNormal(value, 0.1, generator);
  }
  return module;
}
