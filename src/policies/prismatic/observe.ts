/**
 * An observation to what the network is fed: resized pictures, prompt tokens, normalized proprioception.
 *
 * Everything is kept in its smallest exact form (bytes, ids), because it travels between processes and waits
 * in memory until training reads it again.
 */
import type { ForwardInputs, Observation } from "#data";
import { UserError } from "#registry";
import { type Device, type Tensor, tensor } from "#tensor";
import type { PrismaticConfig } from "./config.ts";
import type { ImageProcessor } from "./images.ts";
import { type Bounds, boundsOf, datasetKey, normalize } from "./normalization.ts";
import { type BeginPlacement, type PromptBatch, padPrompts, promptIds } from "./prompts.ts";
import type { PromptTokenizer } from "./tokenizer.ts";

export interface PromptOptions {
  readonly begin: BeginPlacement;
  /** Pictures that the network reads. */
  readonly images: number;
  readonly promptLength: number;
  readonly padId: number;
  /** Bounds of each number of the state; undefined when proprioception is not read. */
  readonly proprio: Bounds | undefined;
}

/** The statistics that proprioception is normalized with, checked against the number of inputs. */
export function proprioBounds(
  config: PrismaticConfig,
  unnormKey: string | undefined,
  numbers: number,
): Bounds {
  const key = datasetKey(config.normStats, unnormKey);
  const statistics = config.normStats[key]!.proprio;
  if (!statistics) throw new UserError(`use_proprio is set and the statistics of "${key}" have no "proprio"`);
  const bounds = boundsOf(statistics, "q99", `${key}.proprio`);
  if (bounds.low.length !== numbers) {
    throw new UserError(
      `proprio_dim is ${numbers} and the statistics of "${key}" describe ${bounds.low.length} numbers`,
    );
  }
  return bounds;
}

/** Names of the forward inputs: images, input_ids, attention_mask and, where read, proprio. */
export function describe(
  observation: Observation,
  parts: { readonly tokenizer: PromptTokenizer; readonly images: ImageProcessor },
  options: PromptOptions,
  device: Device,
): ForwardInputs {
  const images = parts.images.resize(onDevice(observation, device), options.images);
  const rows = observation.taskDescriptions.map((task) => promptIds(parts.tokenizer, task));
  const prompt = placePrompts(rows, options);
  return {
    images,
    input_ids: prompt.ids_BL,
    attention_mask: prompt.mask_BL,
    ...(options.proprio && { proprio: normalizedState(observation.states, options.proprio) }),
  };
}

export const placePrompts = (rows: readonly (readonly number[])[], options: PromptOptions): PromptBatch =>
  padPrompts(rows, options.promptLength, options.padId, options.begin);

/** float32 [B, Q] in the env's units → float32 [B, Q] in [−1, 1]. */
export function normalizedState(states_BQ: Tensor, bounds: Bounds): Tensor {
  const [B = 0, Q = 0] = states_BQ.shape;
  if (Q !== bounds.low.length) {
    throw new UserError(
      `the policy reads ${bounds.low.length} numbers of proprioception and the environment gives ${Q}`,
    );
  }
  const values = normalize(states_BQ.cpu().float().contiguous().data() as Float32Array, bounds);
  return tensor(Float32Array.from(values), { shape: [B, Q] });
}

function onDevice(observation: Observation, device: Device): Observation {
  const move = (view: Tensor | undefined): Tensor | undefined => view?.to({ device });
  return {
    ...observation,
    mainImages: observation.mainImages.to({ device }),
    wristImages: move(observation.wristImages),
    extraImages: move(observation.extraImages),
  };
}
