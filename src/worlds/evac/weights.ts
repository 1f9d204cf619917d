/**
 * Between the names of an EVAC checkpoint and ours.
 *
 * They differ in the autoencoder only, which the checkpoint keeps in CompVis's layout: other names, levels of the
 * decoder counted from the other end, and the attention's linear maps stored as 1 × 1 convolutions.
 */
import { join } from "node:path";
import { readJsonFile, readTorch } from "#formats";
import type { ModuleOptions } from "#nn";
import { UserError } from "#registry";
import { Tensor } from "#tensor";
import { AutoencoderKL } from "../autoencoder-kl/autoencoder-kl.ts";
import { readWeights } from "../weight-files.ts";
import { ActionPredictor, type PoseScale } from "./action-predictor.ts";
import { evacFiles } from "./files.ts";
import { autoencoderSizes, EvacModel } from "./model.ts";
import { type EvacSizes, evacSizes } from "./sizes.ts";

const prefix = "first_stage_model.";

/** Ours to theirs, longest first; `L` stands for a level, `B` for a block. */
const layerNames: readonly (readonly [ours: RegExp, theirs: string])[] = [
  [/^encoder\.down_blocks\.(\d+)\.resnets\.(\d+)\./, "encoder.down.$1.block.$2."],
  [/^encoder\.down_blocks\.(\d+)\.downsamplers\.0\./, "encoder.down.$1.downsample."],
  [/^(encoder|decoder)\.mid_block\.attentions\.0\.group_norm\./, "$1.mid.attn_1.norm."],
  [/^(encoder|decoder)\.mid_block\.attentions\.0\.to_([qkv])\./, "$1.mid.attn_1.$2."],
  [/^(encoder|decoder)\.mid_block\.attentions\.0\.to_out\.0\./, "$1.mid.attn_1.proj_out."],
  [/^(encoder|decoder)\.mid_block\.resnets\.0\./, "$1.mid.block_1."],
  [/^(encoder|decoder)\.mid_block\.resnets\.1\./, "$1.mid.block_2."],
  [/^decoder\.up_blocks\.(\d+)\.resnets\.(\d+)\./, "decoder.up.$1.block.$2."],
  [/^decoder\.up_blocks\.(\d+)\.upsamplers\.0\./, "decoder.up.$1.upsample."],
  [/^(encoder|decoder)\.conv_norm_out\./, "$1.norm_out."],
];

/** The published name of one of our weights; `levels` is the number of the autoencoder's resolutions. */
export function publishedName(ours: string, levels: number): string {
  if (!ours.startsWith(prefix)) return ours;
  const name = ours.slice(prefix.length);
  const [pattern, theirs] = layerNames.find(([pattern]) => pattern.test(name)) ?? [/^/, ""];
  const renamed = name
    .replace(pattern, theirs)
    .replace(".conv_shortcut.", ".nin_shortcut.")
    .replace(/^decoder\.up\.(\d+)\./, (_, level) => `decoder.up.${levels - 1 - Number(level)}.`);
  return prefix + renamed;
}

const isAttentionMap = (name: string): boolean => /\.mid\.attn_1\.(q|k|v|proj_out)\.weight$/.test(name);

/** Our weights under their published names and shapes. */
export function publishedState(model: EvacModel, levels: number): Map<string, Tensor> {
  return published(model.state(), levels);
}

function published(weights: ReadonlyMap<string, Tensor>, levels: number): Map<string, Tensor> {
  const state = new Map<string, Tensor>();
  for (const [ours, value] of weights) {
    const name = publishedName(ours, levels);
    state.set(name, isAttentionMap(name) ? value.unsqueeze(2).unsqueeze(3) : value);
  }
  return state;
}

/** One or several files that together hold one state dict. */
export function loadModel(paths: readonly string[], sizes: EvacSizes, options: ModuleOptions): EvacModel {
  const found = new Map(paths.flatMap((path) => [...readWeights(path)]));
  const model = new EvacModel(sizes, { ...options, device: "meta" });
  const levels = sizes.first_stage_config.params.ddconfig.ch_mult.length;
  const state = new Map<string, Tensor>();
  for (const ours of model.state().keys()) {
    const name = publishedName(ours, levels);
    const value = found.get(name);
    found.delete(name);
    if (value) state.set(ours, isAttentionMap(name) ? value.flatten(1) : value);
  }
  for (const [name, value] of found) state.set(name, value); // left over: reported as unexpected
  model.loadState(state, { source: paths.join(" and ") });
  return model.to(options);
}

/** Our weights under the names of a checkpoint that holds the autoencoder alone. */
export function publishedAutoencoder(vae: AutoencoderKL, levels: number): Map<string, Tensor> {
  return published(vae.state(prefix), levels);
}

/** The autoencoder that training left in a folder, with its sizes. */
export function readFirstStage(
  folder: string,
  place: ModuleOptions,
): { vae: AutoencoderKL; first_stage_config: EvacSizes["first_stage_config"] } {
  const first_stage_config = readJsonFile(join(folder, evacFiles.autoencoderSizes));
  const sizes = evacSizes.parse({ scale_factor: 1, first_stage_config });
  const vae = loadAutoencoder(join(folder, evacFiles.autoencoder), sizes, place);
  return { vae, first_stage_config: sizes.first_stage_config };
}

/** The autoencoder out of a whole checkpoint, or out of one that holds nothing else. */
function loadAutoencoder(path: string, sizes: EvacSizes, options: ModuleOptions): AutoencoderKL {
  const weights = readWeights(path);
  const vae = new AutoencoderKL(autoencoderSizes(sizes), { ...options, device: "meta" });
  const levels = sizes.first_stage_config.params.ddconfig.ch_mult.length;
  const state = new Map<string, Tensor>();
  for (const ours of vae.state(prefix).keys()) {
    const name = publishedName(ours, levels);
    const value = weights.get(name);
    if (value) state.set(ours.slice(prefix.length), isAttentionMap(name) ? value.flatten(1) : value);
  }
  vae.loadState(state, { source: path });
  return vae.to(options);
}

/** In our own files only: this predictor sees the hand's last change of pose. */
export const readsMotion = "reads_motion";

export function loadActionPredictor(
  path: string,
  options: ModuleOptions,
): { predictor: ActionPredictor; scale: PoseScale | undefined } {
  const weights = readWeights(path);
  const [hidden = 0, inputs = 0] = weights.get("network.0.weight")?.shape ?? [];
  const [pose = 0] = weights.get("network.4.weight")?.shape ?? [];
  if (pose === 0) throw new UserError(`${path} has no network.0 to network.4: it is not an action predictor`);
  const around = path.endsWith(".safetensors") ? weights : readTorch(path); // published files have them beside the weights
  const [mean, std, motion] = ["abs_action_mean", "abs_action_std", readsMotion].map((name) => {
    const value = around instanceof Map ? around.get(name) : undefined;
    weights.delete(name);
    return value instanceof Tensor ? value : undefined;
  });
  const sizes = { action: inputs - (motion ? 2 : 1) * pose, pose, hidden, motion: motion !== undefined };
  const predictor = new ActionPredictor(sizes, options);
  predictor.loadState(weights, { source: path });
  const place = { device: options.device ?? "cpu" } as const;
  return { predictor, scale: mean && std && { mean: mean.float().to(place), std: std.float().to(place) } };
}
