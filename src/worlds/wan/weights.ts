/**
 * Reads a Wan world's parts from the published layout: `model-00001.safetensors` and `Wan2.2_VAE.pth`.
 *
 * Keys may carry a `model.` prefix. The scalars `action_scale` and `action_scale1` of older files are no
 * longer part of the network and are dropped. Published folders have no config file; ours may.
 */
import type { ModuleOptions } from "#nn";
import type { Tensor } from "#tensor";
import { descriptionOf, readSizes, readWeights, renamed } from "../weight-files.ts";
import { WanDiT } from "./model.ts";
import { type WanSizes, wanSizes } from "./sizes.ts";
import { WanVAE } from "./vae.ts";

export const readWanSizes = (path: string): WanSizes => readSizes(wanSizes, descriptionOf(path));

export function loadDenoiser(path: string, sizes: WanSizes, options: ModuleOptions): WanDiT {
  const denoiser = new WanDiT(sizes, { ...options, device: "meta" });
  denoiser.loadState(bare(readWeights(path), ["action_scale", "action_scale1"]), { source: path });
  return denoiser.to(options);
}

export function loadAutoencoder(path: string, sizes: WanSizes, options: ModuleOptions): WanVAE {
  const vae = new WanVAE(sizes, { ...options, device: "meta" });
  vae.loadState(bare(readWeights(path), []), { source: path });
  return vae.to(options);
}

const bare = (weights: ReadonlyMap<string, Tensor>, dropped: readonly string[]): Map<string, Tensor> =>
  renamed(weights, (name) => {
    const short = name.replace(/^model\./, "");
    return dropped.includes(short) ? undefined : short;
  });
