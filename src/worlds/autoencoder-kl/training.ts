/**
 * How the picture autoencoder learns: to give back what it saw, with latents that stay near a gaussian.
 *
 * Without the adversarial and perceptual losses of the original, which small clean pictures do not need: absolute and
 * squared error, and a light pull of the posterior towards the standard normal.
 *
 * Shapes: N pictures, H W pixels in [-1, 1], h w latent positions.
 */
import { noGrad, scope, type Tensor } from "#tensor";
import { detailWeights, weightedError } from "../detail.ts";
import type { AutoencoderKL } from "./autoencoder-kl.ts";

export interface AutoencoderTraining {
  readonly squared_weight: number;
  readonly kl_weight: number;
  readonly detail_weight: number; // of pixels that stand out, see `detail.ts`
}

export interface AutoencoderLesson {
  readonly pictures: Tensor; // [N, 3, H, W]
  readonly noise: Tensor; // standard normal, [N, z, h, w]
}

export function autoencoderLoss(
  vae: AutoencoderKL,
  { pictures, noise }: AutoencoderLesson,
  { squared_weight, kl_weight, detail_weight }: AutoencoderTraining,
): Tensor {
  const { dtype } = vae.quant_conv.weight; // what the network computes in; errors are float32
  const posterior = vae.posterior(pictures.to({ dtype }));
  const [mean, logvar] = [posterior.mean.float(), posterior.logvar.float()];
  const latents = mean.add(logvar.mul(0.5).exp().mul(noise)).to({ dtype });
  const error = vae.decodeRaw(latents).float().sub(pictures);
  const divergence = mean.square().add(logvar.exp()).sub(logvar).sub(1).mul(0.5);
  return weightedError(error, detailWeights(pictures, detail_weight), squared_weight).add(
    divergence.mean().mul(kl_weight),
  );
}

/**
 * Gives latents zero mean and unit spread in each channel, by folding shift and scale into the two 1×1 convolutions around
 * them: what is decoded stays the same, and the published `scaling_factor` can be 1.
 */
export function standardizeLatents(vae: AutoencoderKL, pictures_NCHW: Tensor): void {
  noGrad(() =>
    scope(() => {
      const { mean } = vae.posterior(pictures_NCHW);
      const channels = vae.latentChannels;
      const [shift, spread] = [mean.mean([0, 2, 3]), mean.std([0, 2, 3]).clamp(1e-4)];
      const { weight, bias } = vae.quant_conv;
      const [means, logvars] = [bias!.narrow(0, 0, channels), bias!.narrow(0, channels, channels)];
      weight.narrow(0, 0, channels).div_(spread.view([-1, 1, 1, 1]));
      means.copy_(means.sub(shift).div(spread));
      logvars.sub_(spread.log().mul(2));
      const out = vae.post_quant_conv;
      out.bias!.add_(out.weight.mul(shift.view([1, -1, 1, 1])).sum([1, 2, 3]));
      out.weight.mul_(spread.view([1, -1, 1, 1]));
    }),
  );
}
