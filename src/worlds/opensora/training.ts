/**
 * How OpenSora's denoiser learns: the velocity from noise to the recorded frames, given memory and actions.
 *
 * Rectified flow, https://arxiv.org/abs/2209.03003, with a logit-normal spread of times (Esser et al. 2024,
 * https://arxiv.org/abs/2403.03206). Three additions that made small worlds follow actions: a share of samples at pure
 * noise (where every imagination begins), a little noise on the memory (which at run time is imagined itself), and
 * more weight where something moves or has color.
 *
 * Shapes: B windows, z latent channels, M memory frames, C new ones, h w latent positions, A action size.
 */
import { cat, type Generator, randn, type Tensor } from "#tensor";
import { blurred, drawNoiseLevels, type LessonDrawing, motionWeights } from "../lesson.ts";
import type { STDiT3 } from "./model.ts";

export interface WindowBatch {
  readonly memory: Tensor; // [B, z, M, h, w]
  readonly fresh: Tensor; // [B, z, C, h, w]
  readonly actions: Tensor; // normalized, [B, C, A]
  /** How much a place matters besides its motion: in [0, 1], [B, 1, C, h, w]. */
  readonly emphasis?: Tensor;
}

export interface FlowTraining extends LessonDrawing {
  readonly emphasis_weight: number;
}

/** Everything a step needs, with all randomness drawn. */
export interface FlowLesson {
  readonly memory: Tensor; // noised, [B, z, M, h, w]
  readonly noisy: Tensor; // [B, z, C, h, w]
  readonly velocity: Tensor; // what to predict, [B, z, C, h, w]
  readonly weights: Tensor; // [B, 1, C, h, w]
  readonly time: Tensor; // in (0, 1000], [B]
  readonly actions: Tensor; // [B, C, A]
}

export function drawFlowLesson(batch: WindowBatch, how: FlowTraining, generator: Generator): FlowLesson {
  const { memory, fresh, actions, emphasis } = batch;
  const place = { generator, device: fresh.device };
  const rows = fresh.shape[0]!;
  const time = drawNoiseLevels(rows, how, place);
  const share = time.view([rows, 1, 1, 1, 1]);
  const noise = randn([...fresh.shape], place);
  const weights = motionWeights(memory, fresh, how);
  return {
    memory: blurred(memory, how, place),
    noisy: fresh.mul(share.neg().add(1)).add(noise.mul(share)),
    velocity: fresh.sub(noise),
    weights: emphasis ? weights.add(emphasis.mul(how.emphasis_weight)) : weights,
    time: time.mul(1000),
    actions,
  };
}

export function flowLoss(denoiser: STDiT3, lesson: FlowLesson): Tensor {
  const { memory, noisy, velocity, weights, time, actions } = lesson;
  const [, channels = 0, old = 0] = memory.shape;
  const predicted = denoiser.learn(cat([memory, noisy], 2), time, actions, old);
  const error = predicted.narrow(1, 0, channels).sub(velocity).square();
  return error.mul(weights).mean();
}
