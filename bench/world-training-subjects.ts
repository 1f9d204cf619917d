/** What the bench of world training trains: a small OpenSora world's networks, and Wan's denoiser. */
import { type Device, scope, synchronize } from "#tensor";
import { AutoencoderKL, wanParts } from "#worlds";
import type { RecordedFrames } from "../src/world-training/frames/recorded-frames.ts";
import { initialize } from "../src/world-training/learning/initialize.ts";
import { throughPictures } from "../src/world-training/learning/through-pictures.ts";
import { type Course, withStreams } from "../src/world-training/learning/training-loop.ts";
import type { Lesson } from "../src/world-training/learning/weight-training.ts";
import {
  openSoraAutoencoderCourse,
  openSoraAutoencoderSettings,
} from "../src/world-training/opensora/autoencoder.ts";
import {
  actionStatistics,
  openSoraDenoiserCourse,
  openSoraDenoiserSettings,
} from "../src/world-training/opensora/denoiser.ts";
import { rewardModelCourse, rewardModelSettings } from "../src/world-training/reward-model/training.ts";
import { wanAutoencoderSettings } from "../src/world-training/wan/autoencoder.ts";
import { wanDenoiserCourse, wanDenoiserSettings } from "../src/world-training/wan/denoiser.ts";
import { randomRecordings } from "./world-training-data.ts";

/** How a step is computed. */
export interface Way {
  readonly name: string;
  readonly cuda_graph: boolean;
  readonly kernels: boolean;
}

/** What is trained: its steps a second by a way, and PyTorch's where there is one. */
export interface Subject {
  readonly name: string;
  readonly goal?: number; // steps a second that are wanted of an H200
  readonly request?: Readonly<Record<string, unknown>>;
  measure(way: Way, seconds: number): number;
}

export function subjects(device: Device, tiny: boolean): Subject[] {
  const size = tiny ? { episodes: 4, length: 10, side: 16 } : { episodes: 48, length: 40, side: 64 };
  const frames = randomRecordings(device, size);
  const small = tiny ? { batch_size: 4 } : {};
  const vae = untrainedVae(device);
  const precision = device === "cpu" ? "fp32" : "bf16";
  const judged = untrainedVae(device);
  if (precision === "bf16") judged.to({ dtype: "bfloat16" });
  return [
    denoiser(frames, vae, { patch: 4, batch_size: 256, goal: 100, ...small }, tiny),
    denoiser(frames, vae, { patch: 2, batch_size: 128, goal: 40, ...small }, tiny),
    wanDenoiser(frames, tiny),
    {
      name: "autoencoder",
      measure: (way, seconds) =>
        pace(device, seconds, () =>
          openSoraAutoencoderCourse(
            frames,
            openSoraAutoencoderSettings.parse({ batch_size: 256, precision, ...small, ...graph(way) }),
          ),
        ),
    },
    {
      name: "judge",
      measure: (way, seconds) =>
        pace(device, seconds, () =>
          rewardModelCourse(
            frames,
            { seen: throughPictures(judged, frames) },
            rewardModelSettings.parse({ ...small, ...graph(way) }),
          ),
        ),
    },
  ];
}

const graph = ({ cuda_graph }: Way) => ({ cuda_graph });

function untrainedVae(device: Device): AutoencoderKL {
  const { block_out_channels, layers_per_block, norm_num_groups } = openSoraAutoencoderSettings.parse({});
  const ends = { latent_channels: 4, in_channels: 3, out_channels: 3, scaling_factor: 1 };
  const vae = new AutoencoderKL(
    { block_out_channels, layers_per_block, norm_num_groups, ...ends },
    { device },
  );
  initialize(vae, 1);
  return vae;
}

interface DenoiserSubject {
  readonly patch: number;
  readonly batch_size: number;
  readonly goal: number;
}

function denoiser(
  frames: RecordedFrames,
  vae: AutoencoderKL,
  { patch, batch_size, goal }: DenoiserSubject,
  tiny: boolean,
): Subject {
  const sizes = tiny
    ? { depth: 1, hidden_size: 32, num_heads: 2 }
    : { depth: 5, hidden_size: 192, num_heads: 4 };
  const precision = frames.device === "cpu" ? "fp32" : "bf16";
  const asked = { ...sizes, patch_size: [1, patch, patch], batch_size, precision };
  const latent = frames.size[0] / vae.downscale;
  const { chunk, condition_frame_length: memory } = openSoraDenoiserSettings.parse(asked);
  const own = { in_channels: 4, pred_sigma: false, mlp_ratio: 4, action_dim: 7 };
  const model = { ...asked, ...own, vae_downscale: vae.downscale, input_sq_size: frames.size[0] };
  return {
    name: `denoiser, ${(latent / patch) ** 2} tokens a frame`,
    goal,
    request: { sizes: model, batch: batch_size, memory, chunk, latent, dtype: precision },
    measure: (way, seconds) =>
      pace(frames.device, seconds, () =>
        openSoraDenoiserCourse(
          frames,
          vae,
          openSoraDenoiserSettings.parse({ ...asked, ...graph(way) }),
          actionStatistics(frames),
        ),
      ),
  };
}

/** Wan's, width 192 and six layers on 48 channels; windows are encoded before, as in a long training. */
function wanDenoiser(frames: RecordedFrames, tiny: boolean): Subject {
  const { device } = frames;
  const precision = device === "cpu" ? "fp32" : "bf16";
  const least = { batch_size: 4, dim: 24, num_heads: 2, ffn_dim: 32, num_layers: 1 };
  const measured = { dim: 192, num_heads: 4, ffn_dim: 768, num_layers: 6 };
  const asked = { precision, patch_size: [1, 1, 1], ...(tiny ? least : measured) };
  const parsed = (way: Way) => wanDenoiserSettings.parse({ ...asked, ...graph(way) });
  const smallVae = { z_dim: 4, vae_dim: 4, vae_dec_dim: 4, dim_mult: [1, 1, 2, 2] };
  const { z_dim, vae_dim, vae_dec_dim, dim_mult, num_res_blocks } = wanAutoencoderSettings.parse(
    tiny ? smallVae : { z_dim: 48, vae_dim: 24, vae_dec_dim: 32, dim_mult: [1, 2, 4, 4] },
  );
  const own = { z_dim, vae_dim, vae_dec_dim, dim_mult, num_res_blocks };
  const spread = { vae_mean: Array<number>(z_dim).fill(0), vae_std: Array<number>(z_dim).fill(1) };
  return {
    name: "wan denoiser",
    measure(way, seconds) {
      const settings = parsed(way);
      const { dim, num_heads, ffn_dim, num_layers, patch_size, sigma_shift } = settings;
      const network = { dim, num_heads, ffn_dim, num_layers, patch_size, sigma_shift };
      const sizes = wanParts.wanSizes.parse({ ...own, ...spread, ...network });
      const vae = new wanParts.WanVAE(sizes, { device });
      initialize(vae, 1);
      return pace(device, seconds, () => wanDenoiserCourse(frames, vae, sizes, settings));
    },
  };
}

/** Steps a second, after the first ones, which compile, choose and capture. */
function pace<L extends Lesson<L>>(device: Device, seconds: number, enrol: () => Course<L>): number {
  const { training, teacher } = enrol();
  const step = (): void =>
    scope(() => {
      withStreams(0, training.step, device, (random) => {
        const { loss, gradNorm } = training.take(teacher(random));
        for (const number of [loss, gradNorm]) number.dispose();
      });
    });
  try {
    for (let i = 0; i < 3; i++) step();
    synchronize();
    const began = performance.now();
    let steps = 0;
    while (performance.now() - began < seconds * 1000 || steps < 2) {
      for (let i = 0; i < 2; i++) step();
      steps += 2;
      if (steps % 10 === 0) synchronize(); // as the loop's report does: what is queued must not count as done
    }
    synchronize();
    return (steps * 1000) / (performance.now() - began);
  } finally {
    training.dispose();
  }
}
