/** Trains an OpenSora world's denoiser on windows of recorded latents and writes the world's weights and statistics. */
import { join } from "node:path";
import { z } from "zod";
import { readJsonFile, readSafetensors, writeJsonFile, writeSafetensors } from "#formats";
import { keep, noGrad, scope, type Tensor, tensor } from "#tensor";
import { type AutoencoderKL, openSoraParts } from "#worlds";
import { type EncodedFrames, encodeAll, pickRows } from "../frames/encoded-frames.ts";
import type { RecordedFrames } from "../frames/recorded-frames.ts";
import { type ImaginedMemory, imaginedMemory, withImagined } from "../imagined/imagined-memory.ts";
import { WindowSampler } from "../imagined/window-sampler.ts";
import { initialize, rotaryFrequencies } from "../learning/initialize.ts";
import { emphasisSettings, lessonSettings } from "../learning/lesson-settings.ts";
import { stored, storedType } from "../learning/stored-weights.ts";
import { type Course, type LoopHooks, type Teacher, trainingLoop } from "../learning/training-loop.ts";
import { WeightTraining, weightTrainingSettings } from "../learning/weight-training.ts";

export const openSoraDenoiserSettings = weightTrainingSettings.extend({
  steps: z.int().positive().default(20000),
  batch_size: z.int().positive().default(256),
  lr: z.number().positive().default(5e-4),
  depth: z.int().positive().default(4),
  hidden_size: z.int().positive().default(192),
  num_heads: z.int().positive().default(4),
  patch_size: z.array(z.int().positive()).length(3).default([1, 4, 4]),
  chunk: z.int().positive().default(8),
  condition_frame_length: z.int().positive().default(4),
  ...lessonSettings,
  ...emphasisSettings,
  text_weights: z
    .boolean()
    .default(false)
    .describe("also write the published files' unused text weights, a quarter of the size"),
  precision: z.enum(["fp32", "bf16"]).default("fp32").describe("of the network while it learns"),
  init_from: z.string().nullish().describe("a world whose denoiser to go on from"),
  store: storedType,
});
export type DenoiserSettings = z.infer<typeof openSoraDenoiserSettings>;

export async function trainOpenSoraDenoiser(
  frames: RecordedFrames,
  settings: DenoiserSettings,
  world: string,
  hooks: LoopHooks = {},
): Promise<void> {
  const vae = openSoraParts.loadAutoencoder(join(world, "vae"), { device: frames.device });
  const statistics = settings.init_from ? readStatistics(settings.init_from) : actionStatistics(frames);
  const imagined = await imaginedMemory(frames, settings, hooks);
  const { sizes, denoiser, training, teacher } = openSoraDenoiserCourse(
    frames,
    vae,
    settings,
    statistics,
    imagined,
  );
  await trainingLoop(training, frames.device, teacher, hooks);
  await training.withAverages(async () => {
    writeSafetensors(join(world, "model-00001.safetensors"), stored(denoiser.state(), settings.store));
  });
  const { chunk, condition_frame_length } = settings;
  const size = frames.size[0];
  writeJsonFile(join(world, "config.json"), { ...sizes, size, chunk, condition_frame_length });
  writeJsonFile(join(world, "dataset_statistics.json"), {
    action: { q01: statistics.low, q99: statistics.high },
  });
  training.dispose();
}

export interface DenoiserCourse extends Course<openSoraParts.FlowLesson> {
  readonly sizes: openSoraParts.STDiT3Sizes;
  readonly denoiser: openSoraParts.STDiT3;
}

/** Everything that steps need, before the first of them. */
export function openSoraDenoiserCourse(
  frames: RecordedFrames,
  vae: AutoencoderKL,
  settings: DenoiserSettings,
  statistics: Statistics,
  imagined?: ImaginedMemory,
): DenoiserCourse {
  const sizes = sizesOf(frames, vae, settings);
  const denoiser = newDenoiser(sizes, frames, settings);
  const training = new WeightTraining(
    denoiser,
    weightTrainingSettings.strip().parse(settings),
    (lesson: openSoraParts.FlowLesson) => openSoraParts.flowLoss(denoiser, lesson),
  );
  const teacher = flowTeacher(frames, encodeAll(vae, frames), statistics, settings, imagined);
  return { sizes, denoiser, training, teacher };
}

/** A denoiser that goes on must be told actions as before. */
function readStatistics(world: string): Statistics {
  const { action } = readJsonFile(join(world, "dataset_statistics.json")) as {
    action: { q01: number[]; q99: number[] };
  };
  return { low: action.q01, high: action.q99 };
}

function sizesOf(
  frames: RecordedFrames,
  vae: AutoencoderKL,
  settings: DenoiserSettings,
): openSoraParts.STDiT3Sizes {
  const { depth, hidden_size, num_heads, patch_size, text_weights } = settings;
  return openSoraParts.stdit3Sizes.parse({
    depth,
    hidden_size,
    num_heads,
    patch_size,
    text_weights,
    in_channels: vae.latentChannels,
    pred_sigma: false,
    caption_channels: 1,
    model_max_length: 1,
    vae_downscale: vae.downscale,
    input_sq_size: frames.size[0],
    pad_action_num: settings.condition_frame_length,
  });
}

function newDenoiser(
  sizes: openSoraParts.STDiT3Sizes,
  { device }: RecordedFrames,
  settings: DenoiserSettings,
): openSoraParts.STDiT3 {
  const denoiser = new openSoraParts.STDiT3(sizes, { device });
  const silent = (name: string) => name === "t_block.1.weight" || name === "final_layer.linear.weight";
  initialize(denoiser, settings.seed, silent);
  noGrad(() => denoiser.rope.freqs.copy_(rotaryFrequencies(sizes.hidden_size / sizes.num_heads)));
  if (settings.init_from) {
    const source = join(settings.init_from, "model-00001.safetensors");
    denoiser.loadState(readSafetensors(source), { source });
  }
  denoiser.requiresGrad_(false, (name) => name === "rope.freqs" || unused.test(name));
  return settings.precision === "bf16" ? denoiser.to({ dtype: "bfloat16" }) : denoiser;
}

/** Draws windows of the recordings and what a denoiser is to say about them. */
function flowTeacher(
  frames: RecordedFrames,
  { latents, color }: EncodedFrames,
  statistics: Statistics,
  settings: DenoiserSettings,
  imagined?: ImaginedMemory,
): Teacher<openSoraParts.FlowLesson> {
  const windows = new WindowSampler(frames, {
    memory: settings.condition_frame_length,
    chunk: settings.chunk,
    aligned: settings.aligned_share,
    imagined,
  });
  const actions = keep(normalized(frames.actions, statistics));
  const remembered = withImagined(latents, imagined);
  const video = (table: Tensor, index: Tensor): Tensor => pickRows(table, index).transpose(1, 2).float();
  return ({ numbers, device }) => {
    const rows = windows.draw(settings.batch_size, numbers);
    const batch = {
      memory: video(remembered, rows.memory),
      fresh: video(latents, rows.fresh),
      actions: pickRows(actions, rows.actions),
      emphasis: pickRows(color, rows.fresh).unsqueeze(1).float().div(255),
    };
    return openSoraParts.drawFlowLesson(batch, settings, device);
  };
}

/** In published files, never run. */
const unused = /cross_attn|^y_embedder|^fps_embedder|none_action/;

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

function normalized(actions: Tensor, { low, high }: Statistics): Tensor {
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
