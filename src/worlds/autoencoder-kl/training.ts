/**
 * How the picture autoencoder learns: to give back what it saw, with latents that stay near a gaussian.
 *
 * Without the adversarial and perceptual losses of the original, which small clean pictures do not need: absolute and
 * squared error, and a light pull of the posterior towards the standard normal.
 *
 * Shapes: N pictures, H W pixels in [-1, 1], h w latent positions.
 */
import { type Generator, randn, scope, type Tensor } from "#tensor";
import type { AutoencoderKL } from "./autoencoder-kl.ts";

export interface AutoencoderTraining {
  readonly squared_weight: number;
  readonly kl_weight: number;
}

export function autoencoderLoss(
  vae: AutoencoderKL,
  pictures_NCHW: Tensor,
  { squared_weight, kl_weight }: AutoencoderTraining,
  generator: Generator,
): Tensor {
  const { mean, logvar } = vae.posterior(pictures_NCHW);
  const noise = randn([...mean.shape], { generator, device: mean.device });
  const error = vae.decodeRaw(mean.add(logvar.mul(0.5).exp().mul(noise))).sub(pictures_NCHW);
  const divergence = mean.square().add(logvar.exp()).sub(logvar).sub(1).mul(0.5);
  return error
    .abs()
    .mean()
    .add(error.square().mean().mul(squared_weight))
    .add(divergence.mean().mul(kl_weight));
}

/** One over the standard deviation of raw latents: the published `scaling_factor` that gives them unit spread. */
export function measureScale(vae: AutoencoderKL, pictures_NCHW: Tensor): number {
  return scope(() => 1 / Number(vae.posterior(pictures_NCHW).mean.std().item()));
}
