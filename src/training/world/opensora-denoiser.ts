/** Trains an OpenSora world's denoiser on windows of recorded latents and writes the world's weights and statistics. */
import { join } from "node:path";
import { z } from "zod";
import { writeJsonFile, writeSafetensors } from "#formats";
import { cat, keep, noGrad, scope, type Tensor, tensor } from "#tensor";
import { type AutoencoderKL, flowLoss, loadOpenSoraAutoencoder, STDiT3, stdit3Sizes } from "#worlds";
import { initialise, rotaryFrequencies } from "./initialise.ts";
import { type RecordedFrames, WindowSampler } from "./recorded-frames.ts";
import { type LoopHooks, trainingLoop } from "./training-loop.ts";
import { WeightTraining, weightTrainingSettings } from "./weight-training.ts";

export const denoiserSettings = weightTrainingSettings.extend({
  steps: z.int().positive().default(20000),
  batch_size: z.int().positive().default(256),
  lr: z.number().positive().default(5e-4),
  depth: z.int().positive().default(6),
  hidden_size: z.int().positive().default(256),
  num_heads: z.int().positive().default(4),
  patch_size: z.array(z.int().positive()).length(3).default([1, 4, 4]),
  chunk: z.int().positive().default(8),
  condition_frame_length: z.int().positive().default(4),
  time_mean: z.number().default(0.6),
  time_std: z.number().positive().default(1.3),
  pure_noise_share: z.number().min(0).max(1).default(0.15),
  memory_noise: z.number().min(0).default(0.1),
  motion_weight: z.number().min(0).default(3),
});
export type DenoiserSettings = z.infer<typeof denoiserSettings>;

export async function trainDenoiser(
  frames: RecordedFrames,
  settings: DenoiserSettings,
  world: string,
  hooks: LoopHooks = {},
): Promise<void> {
  const vae = loadOpenSoraAutoencoder(join(world, "vae"), { device: frames.device });
  const latents = encodeAll(vae, frames);
  const statistics = actionStatistics(frames);
  const sizes = stdit3Sizes.parse({
    depth: settings.depth,
    hidden_size: settings.hidden_size,
    num_heads: settings.num_heads,
    patch_size: settings.patch_size,
    pred_sigma: false,
    caption_channels: 1,
    model_max_length: 1,
    vae_downscale: vae.downscale,
    input_sq_size: frames.size[0],
    pad_action_num: settings.condition_frame_length,
  });
  const denoiser = new STDiT3(sizes, { device: frames.device });
  initialise(
    denoiser,
    settings.seed,
    (name) => name === "t_block.1.weight" || name === "final_layer.linear.weight",
  );
  noGrad(() => denoiser.rope.freqs.copy_(rotaryFrequencies(sizes.hidden_size / sizes.num_heads)));
  denoiser.requiresGrad_(false, (name) => name === "rope.freqs" || unused.test(name));
  const windows = new WindowSampler(frames, {
    memory: settings.condition_frame_length,
    chunk: settings.chunk,
  });
  const normal = keep(normalised(frames.actions, statistics));
  const training = new WeightTraining(denoiser, weightTrainingSettings.strip().parse(settings));
  await trainingLoop(
    training,
    frames.device,
    ({ numbers, device }) => {
      const rows = windows.draw(settings.batch_size, numbers);
      const video = (index: Tensor): Tensor => pickRows(latents, index).transpose(1, 2);
      const batch = {
        memory: video(rows.memory),
        fresh: video(rows.fresh),
        actions: pickRows(normal, rows.actions),
      };
      return flowLoss(denoiser, batch, settings, device);
    },
    hooks,
  );
  await training.withAverages(async () => {
    writeSafetensors(join(world, "model-00001.safetensors"), denoiser.state());
  });
  const { chunk, condition_frame_length } = settings;
  writeJsonFile(join(world, "config.json"), {
    ...sizes,
    size: frames.size[0],
    chunk,
    condition_frame_length,
  });
  writeJsonFile(join(world, "dataset_statistics.json"), {
    action: { q01: statistics.low, q99: statistics.high },
  });
  for (const each of [latents, normal]) each.dispose();
  training.dispose();
}

/** In published files, never run. */
const unused = /cross_attn|^y_embedder|^fps_embedder|none_action/;

/** Scaled means of every frame's posterior, [F, z, h, w]. */
export function encodeAll(vae: AutoencoderKL, frames: RecordedFrames, batch = 256): Tensor {
  const parts: Tensor[] = [];
  noGrad(() => {
    for (let from = 0; from < frames.count; from += batch) {
      const rows = frames.every(1).narrow(0, from, Math.min(batch, frames.count - from));
      parts.push(keep(scope(() => vae.encode(frames.pick(rows)))));
    }
  });
  const all = keep(cat(parts));
  for (const part of parts) part.dispose();
  return all;
}

/** Rows by index, whatever the index's shape: [...index, ...row]. */
export const pickRows = (table: Tensor, index: Tensor): Tensor =>
  table.indexSelect(0, index.flatten()).unflatten(0, [...index.shape]);

interface Statistics {
  readonly low: readonly number[];
  readonly high: readonly number[];
}

/** First and 99th percentile of each number; one that hardly moves keeps the range [-1, 1]. */
export function actionStatistics(frames: RecordedFrames): Statistics {
  return scope(() => {
    const rows = frames.episodes.flatMap(({ first, length }) =>
      Array.from({ length }, (_, i) => BigInt(first + i)),
    );
    const taken = frames.actions.cpu().indexSelect(0, tensor(BigInt64Array.from(rows))); // last frames have none
    const [sorted] = taken.sort(0);
    const at = (share: number): number[] =>
      sorted
        .select(0, Math.round(share * (rows.length - 1)))
        .toArray()
        .map(Number);
    const [low, high] = [at(0.01), at(0.99)];
    const still = low.map((value, i) => high[i]! - value < 1e-2);
    return {
      low: low.map((value, i) => (still[i] ? -1 : value)),
      high: high.map((value, i) => (still[i] ? 1 : value)),
    };
  });
}

function normalised(actions: Tensor, { low, high }: Statistics): Tensor {
  return scope(() => {
    const place = { device: actions.device };
    const [from, span] = [
      tensor([...low], place),
      tensor(
        high.map((top, i) => top - low[i]!),
        place,
      ),
    ];
    return actions.sub(from).mul(2).div(span).sub(1);
  });
}
