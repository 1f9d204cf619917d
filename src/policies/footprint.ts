/**
 * How much memory a policy needs, for the plan of a run: from its checkpoint where it is there, else from the
 * published size.
 */
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Footprint } from "#registry";

type Settings = Readonly<Record<string, unknown>>;

/** The published network of a family. */
export interface PublishedSize {
  readonly parameters: number;
  /** Layers and width of the language model. */
  readonly layers: number;
  readonly width: number;
  /** Tokens beside prompt and actions, per picture. */
  readonly picture: number;
  readonly pictures?: ((settings: Settings) => unknown) | undefined;
  /** Of all parameters those that are trained, where it is not all of them and there are no adapters. */
  readonly trained?: ((settings: Settings, parameters: number) => number | undefined) | undefined;
}

/** The footprint of a transformer that answers a prompt with actions. */
export const transformerFootprint =
  (size: PublishedSize) =>
  (settings: Settings): Footprint => {
    const found = parametersInFolder(settings);
    const parameters = found ?? size.parameters;
    const scale = Math.min(1, parameters / size.parameters); // small models have small activations
    const pictures = size.pictures?.(settings) ?? settings.num_images_in_input ?? 1;
    const tokens =
      size.picture * Number(pictures) +
      Number(settings.max_prompt_length ?? 50) +
      Number(settings.action_dim ?? 7) * Number(settings.num_action_chunks ?? 8);
    const width = size.width * 2; // bytes of one 16-bit hidden vector
    const lora =
      settings.is_lora === true
        ? Number(settings.lora_rank ?? 32) * size.width * size.layers * 14 * 2
        : undefined;
    const trained = lora ?? size.trained?.(settings, parameters);
    return {
      parameters,
      ...(trained !== undefined && { trainableParameters: Math.min(trained, parameters) }),
      deviceBytesPerSlot: tokens * width * 24 * scale, // one layer's queries, keys, values, attention and feed-forward at work
      trainBytesPerSample: tokens * width * (size.layers + 40) * scale, // each layer's input, and one layer recomputed
      note:
        found === undefined
          ? `policy: published size, ${(parameters / 1e9).toFixed(2)} B parameters`
          : inFolder(found),
    };
  };

/** Of a family that says nothing itself: what its weights take. */
export function weightsFootprint(settings: Settings): Footprint {
  const found = parametersInFolder(settings);
  const note = found === undefined ? "policy: its family does not say how large it is" : inFolder(found);
  return { parameters: found ?? 0, note };
}

const inFolder = (parameters: number): string =>
  `policy: ${(parameters / 1e6).toFixed(1)} M parameters in its folder`;

/** 16-bit weights unless the folder is small: our own models are stored in 32 bits. */
function parametersInFolder({ model_path: path }: Settings): number | undefined {
  const folder = String(path ?? "");
  if (!existsSync(folder) || !statSync(folder).isDirectory()) return undefined;
  const bytes = readdirSync(folder)
    .filter((name) => name.endsWith(".safetensors"))
    .reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  return bytes === 0 ? undefined : bytes / (bytes < 1e9 ? 4 : 2);
}
