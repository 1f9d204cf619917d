/**
 * What the lessons of all denoisers share: how noisy new frames are shown, how blurred the memory, and what counts more.
 *
 * Noise levels are the sigmoid of a normal number (Esser et al. 2024, https://arxiv.org/abs/2403.03206). Three additions made
 * small worlds follow actions: a share of samples at pure noise, where every imagination begins; a little noise on the
 * memory, which at run time is imagined itself; and more weight where something moves.
 *
 * Shapes: B windows, z latent channels, M memory frames, C new ones, h w latent positions.
 */
import { type Device, type Generator, rand, randn, type Tensor, where, zeros } from "#tensor";

export interface LessonDrawing {
  readonly time_mean: number; // of the level's logit
  readonly time_std: number;
  readonly pure_noise_share: number;
  readonly memory_noise: number; // largest standard deviation
  readonly motion_weight: number;
}

/** Where random numbers come from, and where they are needed. */
export interface Place {
  readonly generator: Generator;
  readonly device: Device;
}

/** How much of each window is noise: in (0, 1], [B]. */
export function drawNoiseLevels(rows: number, how: LessonDrawing, place: Place): Tensor {
  const spread = randn([rows], place).mul(how.time_std).add(how.time_mean).sigmoid();
  return where(rand([rows], place).lt(how.pure_noise_share), zeros([rows], place).add(1), spread);
}

/** The memory, [B, z, M, h, w], with noise of a strength that is drawn for each window. */
export function blurred(memory: Tensor, how: LessonDrawing, place: Place): Tensor {
  const strength = rand([memory.shape[0]!, 1, 1, 1, 1], place).mul(how.memory_noise);
  return memory.add(randn([...memory.shape], place).mul(strength));
}

/** [B, 1, C, h, w]: 1 where nothing moved since the memory's last frame, up to 1 + weight where much did. */
export function motionWeights(memory: Tensor, fresh: Tensor, { motion_weight }: LessonDrawing): Tensor {
  const last = memory.narrow(2, memory.shape[2]! - 1, 1);
  return fresh.sub(last).abs().mean(1, true).clamp(0, 1).mul(motion_weight).add(1);
}
