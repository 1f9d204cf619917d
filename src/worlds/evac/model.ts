/**
 * All networks of an EVAC world in one module, as one checkpoint holds them.
 *
 * The tables of the noise schedule are in the files too; they are kept for the round trip and recomputed for use.
 */
import { buffer, Module, type ModuleOptions } from "#nn";
import type { Tensor } from "#tensor";
import { AutoencoderKL, type AutoencoderKLSizes } from "../autoencoder-kl/autoencoder-kl.ts";
import { OpenClip } from "./clip.ts";
import { Resampler } from "./resampler.ts";
import type { EvacSizes } from "./sizes.ts";
import { EvacUNet } from "./unet.ts";

const timesteps = 1000;
const scaleSteps = 1400;

/** The denoiser and what it is told through: all that is trained together. */
export class EvacNetworks extends Module {
  readonly model: { readonly diffusion_model: EvacUNet };
  readonly cond_stage_model: Resampler; // reads actions
  readonly image_proj_model: Resampler; // reads the first picture
  readonly embedder: { readonly model: OpenClip };

  constructor(sizes: EvacSizes, options: ModuleOptions = {}) {
    super();
    this.model = { diffusion_model: new EvacUNet(sizes.unet_config.params, options) };
    this.cond_stage_model = new Resampler(sizes.cond_stage_config.params, options);
    this.image_proj_model = new Resampler(sizes.image_proj_stage_config.params, options);
    this.embedder = { model: new OpenClip(sizes.img_cond_stage_config.params, options) };
  }
}

export class EvacModel extends EvacNetworks {
  readonly first_stage_model: AutoencoderKL;
  readonly betas: Tensor;
  readonly alphas_cumprod: Tensor;
  readonly alphas_cumprod_prev: Tensor;
  readonly sqrt_alphas_cumprod: Tensor;
  readonly sqrt_one_minus_alphas_cumprod: Tensor;
  readonly log_one_minus_alphas_cumprod: Tensor;
  readonly sqrt_recip_alphas_cumprod: Tensor;
  readonly sqrt_recipm1_alphas_cumprod: Tensor;
  readonly posterior_variance: Tensor;
  readonly posterior_log_variance_clipped: Tensor;
  readonly posterior_mean_coef1: Tensor;
  readonly posterior_mean_coef2: Tensor;
  readonly scale_arr: Tensor;

  constructor(sizes: EvacSizes, options: ModuleOptions = {}) {
    super(sizes, options);
    this.first_stage_model = new AutoencoderKL(autoencoderSizes(sizes), options);
    const table = (): Tensor => buffer([timesteps], options);
    this.betas = table();
    this.alphas_cumprod = table();
    this.alphas_cumprod_prev = table();
    this.sqrt_alphas_cumprod = table();
    this.sqrt_one_minus_alphas_cumprod = table();
    this.log_one_minus_alphas_cumprod = table();
    this.sqrt_recip_alphas_cumprod = table();
    this.sqrt_recipm1_alphas_cumprod = table();
    this.posterior_variance = table();
    this.posterior_log_variance_clipped = table();
    this.posterior_mean_coef1 = table();
    this.posterior_mean_coef2 = table();
    this.scale_arr = buffer([scaleSteps], options);
  }
}

export function autoencoderSizes({ first_stage_config, scale_factor }: EvacSizes): AutoencoderKLSizes {
  const { ch, ch_mult, num_res_blocks, norm_num_groups, z_channels, in_channels, out_ch } =
    first_stage_config.params.ddconfig;
  return {
    block_out_channels: ch_mult.map((factor) => factor * ch),
    layers_per_block: num_res_blocks,
    norm_num_groups,
    latent_channels: z_channels,
    in_channels,
    out_channels: out_ch,
    scaling_factor: scale_factor,
  };
}
