/**
 * How a Wan world learns: its video autoencoder to give back windows, its denoiser the velocity from video to noise.
 *
 * Flow matching, https://arxiv.org/abs/2210.02747, with noise levels bent towards high noise as the sampler's are. The
 * condition latents stay clean but for a little noise, because at run time their pictures are imagined. The autoencoder
 * learns without the original's adversarial and perceptual losses: small clean pictures do not need them.
 *
 * Shapes: B windows, T pictures of one (13), z latent channels, F latent frames (4), h w latent positions, A action size.
 */
import { cat, type Generator, noGrad, randn, scope, type Tensor } from "#tensor";
import { detailWeights, weightedError } from "../detail.ts";
import { blurred, drawNoiseLevels, type LessonDrawing, motionWeights } from "../lesson.ts";
import { conditionLatents, type WanDiT } from "./model.ts";
import type { WanVAE } from "./vae.ts";

export interface VideoLesson {
  readonly video: Tensor; // [B, 3, T, H, W] in [-1, 1]
  readonly noise: Tensor; // standard normal, [B, z, F, h, w]
}

export interface VideoTraining {
  readonly squared_weight: number;
  readonly latent_weight: number; // pull of latents towards zero
  readonly latent_noise: number; // added before decoding, so that neighbors decode alike
  readonly detail_weight: number; // of pixels that stand out, see `detail.ts`
}

export function videoAutoencoderLoss(
  vae: WanVAE,
  { video, noise }: VideoLesson,
  { squared_weight, latent_weight, latent_noise, detail_weight }: VideoTraining,
): Tensor {
  const { dtype } = vae.conv1.weight; // what the network computes in; errors are float32
  const latents = vae.encode(video.to({ dtype })).float();
  const decoded = vae.decodeFree(latents.add(noise.mul(latent_noise)).to({ dtype }));
  const error = decoded.float().sub(video);
  const pictures = (video_BCTHW: Tensor): Tensor => video_BCTHW.transpose(1, 2).flatten(0, 1);
  const weights = detailWeights(pictures(video), detail_weight);
  return weightedError(pictures(error), weights, squared_weight).add(
    latents.square().mean().mul(latent_weight),
  );
}

/** Mean and spread of each latent channel over some videos: the published `vae_mean` and `vae_std`. */
export function latentStatistics(vae: WanVAE, video_B3THW: Tensor): { mean: number[]; std: number[] } {
  return noGrad(() =>
    scope(() => {
      const latents = vae.encode(video_B3THW);
      const numbers = (t: Tensor): number[] => t.cpu().toArray().map(Number);
      return {
        mean: numbers(latents.mean([0, 2, 3, 4])),
        std: numbers(latents.std([0, 2, 3, 4]).clamp(1e-3)),
      };
    }),
  );
}

export interface LevelTraining extends LessonDrawing {
  readonly sigma_shift: number;
}

export interface LevelLesson {
  readonly latents: Tensor; // condition, then noised, [B, z, F, h, w]
  readonly velocity: Tensor; // of the new latents, [B, z, F − 2, h, w]
  readonly weights: Tensor; // [B, 1, F − 2, h, w]
  readonly time: Tensor; // in (0, 1000], [B]
  readonly actions: Tensor; // [B, T, A]
}

export function drawLevelLesson(
  latents_BzFhw: Tensor,
  actions: Tensor,
  how: LevelTraining,
  generator: Generator,
): LevelLesson {
  const [rows = 0, , frames = 0] = latents_BzFhw.shape;
  const place = { generator, device: latents_BzFhw.device };
  const level = drawNoiseLevels(rows, how, place);
  const sigma = level.mul(how.sigma_shift).div(level.mul(how.sigma_shift - 1).add(1));
  const share = sigma.view([rows, 1, 1, 1, 1]);
  const condition = latents_BzFhw.narrow(2, 0, conditionLatents);
  const fresh = latents_BzFhw.narrow(2, conditionLatents, frames - conditionLatents);
  const noise = randn([...fresh.shape], place);
  const seen = blurred(condition, how, place);
  return {
    latents: cat([seen, fresh.mul(share.neg().add(1)).add(noise.mul(share))], 2),
    velocity: noise.sub(fresh),
    weights: motionWeights(condition, fresh, how),
    time: sigma.mul(1000),
    actions,
  };
}

export function levelLoss(
  denoiser: WanDiT,
  { latents, velocity, weights, time, actions }: LevelLesson,
): Tensor {
  const frames = latents.shape[2]! - conditionLatents;
  const said = denoiser.forward(latents, time, actions).float().narrow(2, conditionLatents, frames);
  return said.sub(velocity).square().mul(weights).mean();
}
