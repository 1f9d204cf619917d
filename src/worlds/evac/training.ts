/**
 * How EVAC's networks learn: velocities of recorded frames on the DDIM schedule, given memory, poses and first picture.
 *
 * v-prediction (Salimans & Ho 2022, https://arxiv.org/abs/2202.00512) on the zero-terminal-SNR schedule that the sampler
 * walks, with clean latents scaled as it rescales them. Like our other small worlds, more lessons at and near pure noise
 * (few denoising steps begin and spend their time there), a little noise on the memory (which at run time is imagined
 * itself), and more weight where something moves or has color.
 *
 * Shapes: B windows, M memory frames, C new ones, z latent channels, h w latent positions, N timesteps (1000).
 */
import { cat, type Generator, keep, randn, type Tensor, tensor } from "#tensor";
import { blurred, drawNoiseLevels, type LessonDrawing, motionWeights } from "../lesson.ts";
import type { EvacNetworks } from "./model.ts";
import { pictureStack } from "./picture-stack.ts";
import { type NoiseSettings, noiseTables } from "./schedule.ts";

export interface PoseWindowBatch {
  readonly memory: Tensor; // [B, z, M, h, w]
  readonly fresh: Tensor; // [B, z, C, h, w]
  readonly maps: Tensor; // encoded drawings of the new frames' poses, [B, z, C, h, w]
  readonly actions: Tensor; // relative, [B, C, 14]
  readonly tokens: Tensor; // of the episode's first picture, [B, L, width of CLIP]
  readonly emphasis: Tensor; // how much a place matters besides its motion: in [0, 1], [B, 1, C, h, w]
}

export interface VelocityTraining extends LessonDrawing {
  readonly emphasis_weight: number;
}

/** Everything a step needs, with all randomness drawn. */
export interface VelocityLesson {
  readonly memory: Tensor; // noised, [B, z, M, h, w]
  readonly noisy: Tensor; // [B, z, C, h, w]
  readonly velocity: Tensor; // what to predict, [B, z, C, h, w]
  readonly weights: Tensor; // [B, 1, C, h, w]
  readonly timestep: Tensor; // [B]
  readonly maps: Tensor;
  readonly actions: Tensor;
  readonly tokens: Tensor;
}

/** Share of signal, of noise, and the clean latents' scale at each timestep, float32 [N]. */
export interface LessonTables {
  readonly signal: Tensor;
  readonly noise: Tensor;
  readonly scale: Tensor;
}

export function lessonTables(settings: NoiseSettings, device: Tensor["device"]): LessonTables {
  const { alphasCumprod, scales } = noiseTables(settings);
  const table = (values: readonly number[]): Tensor => keep(tensor([...values], { device }));
  return {
    signal: table(alphasCumprod.map(Math.sqrt)),
    noise: table(alphasCumprod.map((alpha) => Math.sqrt(1 - alpha))),
    scale: table(scales.slice(0, alphasCumprod.length)),
  };
}

export function drawVelocityLesson(
  batch: PoseWindowBatch,
  how: VelocityTraining,
  tables: LessonTables,
  generator: Generator,
): VelocityLesson {
  const { memory, fresh, maps, actions, tokens, emphasis } = batch;
  const place = { generator, device: fresh.device };
  const rows = fresh.shape[0]!;
  const count = tables.signal.shape[0]!;
  // the last timestep is pure noise
  const timestep = drawNoiseLevels(rows, how, place)
    .mul(count)
    .floor()
    .clamp(0, count - 1)
    .long();
  const at = (table: Tensor): Tensor => table.indexSelect(0, timestep).view([rows, 1, 1, 1, 1]);
  const [signal, level] = [at(tables.signal), at(tables.noise)];
  const clean = fresh.mul(at(tables.scale));
  const noise = randn([...fresh.shape], place);
  return {
    memory: blurred(memory, how, place),
    noisy: clean.mul(signal).add(noise.mul(level)),
    velocity: noise.mul(signal).sub(clean.mul(level)),
    weights: motionWeights(memory, fresh, how).add(emphasis.mul(how.emphasis_weight)),
    timestep: timestep.float(),
    maps,
    actions,
    tokens,
  };
}

/** What stays the same through a training. */
export interface EvacSurroundings {
  readonly rays: Tensor; // [6, h, w], in the networks' number type
  readonly fps: Tensor; // [B]
  readonly domain: Tensor; // int64 [B]
}

export function velocityLoss(model: EvacNetworks, around: EvacSurroundings, lesson: VelocityLesson): Tensor {
  const { dtype } = around.rays;
  const [memory, noisy, maps] = [lesson.memory, lesson.noisy, lesson.maps].map((x) => x.to({ dtype })) as [
    Tensor,
    Tensor,
    Tensor,
  ];
  const window = cat([cat([memory, noisy], 2), pictureStack(memory, maps, around.rays)], 1);
  const all = model.model.diffusion_model.forward(window, {
    image: model.image_proj_model.forward(lesson.tokens),
    actions: model.cond_stage_model.forward(lesson.actions),
    timestep: lesson.timestep,
    fps: around.fps,
    domain: around.domain,
  });
  const said = all.narrow(2, memory.shape[2]!, noisy.shape[2]!).float();
  return said.sub(lesson.velocity).square().mul(lesson.weights).mean();
}
