/**
 * How much memory a policy needs, for the plan of a run: from its checkpoint where it is there, else from the
 * published size.
 */
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Footprint, ownEntry } from "#registry";

/**
 * Published sizes: parameters, layers and width of the language model, tokens beside prompt and actions per
 * picture.
 */
const published: Readonly<
  Record<string, { parameters: number; layers: number; width: number; picture: number }>
> = {
  openvla_oft: { parameters: 7.54e9, layers: 32, width: 4096, picture: 256 },
  openvla: { parameters: 7.54e9, layers: 32, width: 4096, picture: 256 },
  openpi: { parameters: 3.5e9, layers: 18, width: 2048, picture: 256 },
};

/** Of π0's parameters: the action expert and its projections, which are all that is trained by default. */
const expertShare = 0.09;

export function policyFootprint(modelType: string, settings: Readonly<Record<string, unknown>>): Footprint {
  const size = ownEntry(published, modelType) ?? { parameters: 0, layers: 0, width: 0, picture: 0 };
  const found = parametersInFolder(String(settings.model_path ?? ""));
  const parameters = found ?? size.parameters;
  const scale = size.parameters > 0 ? Math.min(1, parameters / size.parameters) : 1; // small models have small activations
  const openpi = (settings.openpi ?? {}) as Readonly<Record<string, unknown>>; // where π0's files keep theirs
  const pictures = settings.num_images_in_input ?? openpi.num_images_in_input ?? 1;
  const tokens =
    size.picture * Number(pictures) +
    Number(settings.max_prompt_length ?? 50) +
    Number(settings.action_dim ?? 7) * Number(settings.num_action_chunks ?? 8);
  const width = size.width * 2; // bytes of one 16-bit hidden vector
  const lora =
    settings.is_lora === true
      ? Number(settings.lora_rank ?? 32) * size.width * size.layers * 14 * 2
      : undefined;
  const expert =
    modelType === "openpi" && openpi.train_expert_only !== false ? parameters * expertShare : undefined;
  const trained = lora ?? expert;
  return {
    parameters,
    ...(trained !== undefined && { trainableParameters: Math.min(trained, parameters) }),
    deviceBytesPerSlot: tokens * width * 24 * scale, // one layer's queries, keys, values, attention and feed-forward at work
    trainBytesPerSample: tokens * width * (size.layers + 40) * scale, // each layer's input, and one layer recomputed
    note:
      found === undefined
        ? `policy: published size, ${(parameters / 1e9).toFixed(2)} B parameters`
        : `policy: ${(parameters / 1e6).toFixed(1)} M parameters in its folder`,
  };
}

/** 16-bit weights unless the folder is small: our own models are stored in 32 bits. */
function parametersInFolder(folder: string): number | undefined {
  if (!existsSync(folder) || !statSync(folder).isDirectory()) return undefined;
  const bytes = readdirSync(folder)
    .filter((name) => name.endsWith(".safetensors"))
    .reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  return bytes === 0 ? undefined : bytes / (bytes < 1e9 ? 4 : 2);
}
