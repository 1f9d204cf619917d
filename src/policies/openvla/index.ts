/** The OpenVLA family (`model_type: openvla`): causal, one action of seven tokens per decision. */

import { z } from "zod";
import { Generator } from "#tensor";
import { transformerFootprint } from "../footprint.ts";
import { definePolicy } from "../policy.ts";
import { ActionCodec } from "../prismatic/actions.ts";
import { openPrismaticFolder } from "../prismatic/checkpoint.ts";
import { fillModule } from "../prismatic/fill.ts";
import { ImageProcessor } from "../prismatic/images.ts";
import { savePrismatic } from "../prismatic/save.ts";
import { type PrismaticSettings, prismaticSettings, publishedOpenVla } from "../prismatic/settings.ts";
import { lazyTokenizer, type PrismaticLoadOptions } from "../prismatic/tokenizer.ts";
import { OpenVlaModel } from "./model.ts";
import { OpenVlaPolicy } from "./openvla-policy.ts";
import { habits } from "./prompt.ts";

export const openVlaSettings = prismaticSettings.extend({
  num_action_chunks: z.literal(1).default(1),
  max_prompt_length: z
    .int()
    .positive()
    .default(30)
    .describe("columns of the prompt; longer prompts are refused"),
  num_images_in_input: z.literal(1).default(1).describe("one camera"),
  use_proprio: z.literal(false).default(false).describe("must be false"),
  use_film: z.literal(false).default(false).describe("must be false"),
});

export const openVla = definePolicy({
  settings: openVlaSettings,
  samplesTokens: true,
  footprint: transformerFootprint(publishedOpenVla),
  load: async (settings, options = {}) => loadOpenVla(settings, options),
});

export function loadOpenVla(
  settings: PrismaticSettings,
  { tokenizer: given, ...options }: PrismaticLoadOptions = {},
): OpenVlaPolicy {
  const folder = openPrismaticFolder(settings.model_path);
  const device = options.device ?? "cpu";
  const dtype = options.dtype ?? settings.precision;
  const values = settings.add_value_head ? 1 : 0;
  const codec = new ActionCodec(folder.config, {
    unnormKey: settings.unnorm_key ?? undefined,
    bounds: settings.action_bounds,
    actionDim: settings.action_dim,
    chunk: settings.num_action_chunks,
    spec: options.actionSpec,
  });
  const module = new OpenVlaModel(folder.config, values, { device, dtype });
  fillModule(module, folder, settings, new Generator(options.seed ?? 0, device));
  return new OpenVlaPolicy({
    module,
    codec,
    device,
    dtype,
    tokenizer: given ? () => given : lazyTokenizer(folder.path, folder.config.text.vocab_size),
    images: new ImageProcessor(folder.config.imageSize, folder.normalization, habits.resizer),
    prompt: {
      begin: habits.begin,
      images: settings.num_images_in_input,
      promptLength: settings.max_prompt_length,
      padId: folder.config.padTokenId,
      proprio: undefined,
    },
    chunk: settings.num_action_chunks,
    actionSize: settings.action_dim,
    valueCount: values,
    freezeVision: settings.freeze_vision,
    cudaGraphs: (options.cudaGraphs ?? false) && device.startsWith("cuda"),
    trimPadding: settings.trim_padding,
    save: async (path, { dtype: stored }) => savePrismatic(module, path, folder, { settings, dtype: stored }),
  });
}
