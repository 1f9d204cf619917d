/**
 * Reads an OpenSora world's parts from the published layout.
 *
 * `config.json`, `model-00001.safetensors` (or shards with an index, or a folder with them), `vae/`, `dataset_statistics.json`. The
 * autoencoder's attention may carry the names of diffusers before 0.17 (`query`, `proj_attn`).
 */
import { join } from "node:path";
import { z } from "zod";
import { readJsonFile } from "#formats";
import { layerCount, type ModuleOptions } from "#nn";
import { UserError } from "#registry";
import { AutoencoderKL, sdxlSizes } from "../autoencoder-kl/autoencoder-kl.ts";
import { descriptionOf, readSizes, readWeights, renamed } from "../weight-files.ts";
import { STDiT3 } from "./model.ts";
import { type STDiT3Sizes, stdit3Sizes } from "./sizes.ts";

/** Percentiles of the actions a world was trained on. */
export interface ActionStatistics {
  readonly low: readonly number[];
  readonly high: readonly number[];
}

export function loadDenoiser(path: string, options: ModuleOptions): { denoiser: STDiT3; sizes: STDiT3Sizes } {
  const sizes = readSizes(stdit3Sizes, descriptionOf(path));
  const denoiser = new STDiT3(sizes, { ...options, device: "meta" });
  denoiser.loadState(readWeights(path), { source: path });
  return { denoiser: denoiser.to(options), sizes };
}

const vaeConfig = z.looseObject({
  block_out_channels: z
    .array(z.int().positive())
    .min(1)
    .default([...sdxlSizes.block_out_channels]),
  layers_per_block: layerCount.default(sdxlSizes.layers_per_block),
  norm_num_groups: z.int().positive().default(sdxlSizes.norm_num_groups),
  latent_channels: z.int().positive().default(sdxlSizes.latent_channels),
  in_channels: z.int().positive().default(sdxlSizes.in_channels),
  out_channels: z.int().positive().default(sdxlSizes.out_channels),
  scaling_factor: z.number().positive().default(sdxlSizes.scaling_factor),
});

export function loadAutoencoder(folder: string, options: ModuleOptions): AutoencoderKL {
  const sizes = readSizes(vaeConfig, join(folder, "config.json"));
  const source = join(folder, "diffusion_pytorch_model.safetensors");
  const vae = new AutoencoderKL(sizes, { ...options, device: "meta" });
  vae.loadState(renamed(readWeights(source), modernName), { source });
  return vae.to(options);
}

const oldNames: readonly (readonly [string, string])[] = [
  [".query.", ".to_q."],
  [".key.", ".to_k."],
  [".value.", ".to_v."],
  [".proj_attn.", ".to_out.0."],
];

const modernName = (name: string): string =>
  oldNames.reduce((result, [old, modern]) => result.replace(old, modern), name);

const statisticsFile = z.looseObject({
  action: z.looseObject({ q01: z.array(z.number()), q99: z.array(z.number()) }),
});

export function readStatistics(path: string, actionSize: number): ActionStatistics {
  const parsed = statisticsFile.safeParse(readJsonFile(path));
  if (!parsed.success)
    throw new UserError(`${path}: there are no lists action.q01 and action.q99 of numbers`);
  const { q01: low, q99: high } = parsed.data.action;
  if (low.length !== actionSize || high.length !== actionSize) {
    throw new UserError(
      `${path}: q01 and q99 have ${low.length} and ${high.length} numbers; the world's actions have ${actionSize}`,
    );
  }
  const flat = low.findIndex((value, i) => !(high[i]! > value));
  if (flat >= 0)
    throw new UserError(`${path}: q99 does not exceed q01 for action ${flat}, so it cannot be normalized`);
  return { low, high };
}
