/**
 * The OpenVLA-OFT family (`model_type: openvla_oft`): from a config's model section and a checkpoint folder to a policy.
 */
import { z } from "zod";
import { UserError } from "#registry";
import { Generator } from "#tensor";
import { transformerFootprint } from "../footprint.ts";
import { definePolicy, type LoadOptions } from "../policy.ts";
import { ActionCodec } from "../prismatic/actions.ts";
import { isPrismaticFolder, openPrismaticFolder, type PrismaticFolder } from "../prismatic/checkpoint.ts";
import { fillModule } from "../prismatic/fill.ts";
import { ImageProcessor } from "../prismatic/images.ts";
import { proprioBounds } from "../prismatic/observe.ts";
import { savePrismatic } from "../prismatic/save.ts";
import { prismaticSettings, publishedOpenVla } from "../prismatic/settings.ts";
import { lazyTokenizer, type PrismaticLoadOptions } from "../prismatic/tokenizer.ts";
import { readComponent } from "../prismatic/weights.ts";
import { miniCheckpoint } from "./fresh.ts";
import { type OftShape, OpenVlaOftModel } from "./model.ts";
import { OpenVlaOftPolicy } from "./oft-policy.ts";
import { habits } from "./prompt.ts";

export const oftSettings = prismaticSettings.extend({
  implement_version: z
    .enum(["rlinf", "official"])
    .default("rlinf")
    .describe(
      "whose prompt layout and picture resizing the checkpoint was trained with: RLinf's or the official code's",
    ),
});
export type OftSettings = z.infer<typeof oftSettings>;

export const openVlaOft = definePolicy({
  settings: oftSettings,
  samplesTokens: true,
  footprint: transformerFootprint(publishedOpenVla),
  load: async (settings, options = {}) => loadOft(settings, options),
  recognizes: isPrismaticFolder, // OpenVLA's own look the same: those need their model_type
  sectionFor: ({ pack, hands, wrists }) => ({
    unnorm_key: pack,
    max_prompt_length: 32,
    ...(hands > 1 && { action_dim: 7 * hands, num_images_in_input: wrists ? 1 + hands : 1 }),
  }),
  fresh: { mini: miniCheckpoint },
});

export function loadOft(
  settings: OftSettings,
  { tokenizer: given, ...options }: PrismaticLoadOptions = {},
): OpenVlaOftPolicy {
  const folder = openPrismaticFolder(settings.model_path);
  refuseFilmSetting(settings, folder);
  const device = options.device ?? "cpu";
  const dtype = options.dtype ?? settings.precision;
  const shape = shapeOf(settings, folder);
  const codec = codecFor(settings, folder, options);
  const unnormKey = settings.unnorm_key ?? undefined;
  const proprio = shape.proprio > 0 ? proprioBounds(folder.config, unnormKey, shape.proprio) : undefined;
  const module = new OpenVlaOftModel(folder.config, shape, { device, dtype });
  const state = shape.proprio > 0 ? readComponent(folder.path, "proprio_projector") : undefined;
  fillModule(module, folder, settings, new Generator(options.seed ?? 0, device), state);
  const { begin, resizer, trims } = habits[shape.variant];
  return new OpenVlaOftPolicy({
    module,
    codec,
    device,
    dtype,
    tokenizer: given ? () => given : lazyTokenizer(folder.path, folder.config.text.vocab_size),
    images: new ImageProcessor(folder.config.imageSize, folder.normalization, resizer),
    prompt: {
      begin,
      images: settings.num_images_in_input,
      promptLength: settings.max_prompt_length,
      padId: folder.config.padTokenId,
      proprio,
    },
    chunk: settings.num_action_chunks,
    actionSize: settings.action_dim,
    valueCount: shape.values,
    freezeVision: settings.freeze_vision,
    cudaGraphs: (options.cudaGraphs ?? false) && device.startsWith("cuda"),
    trimPadding: settings.trim_padding && trims,
    save: async (path, { dtype: stored }) => savePrismatic(module, path, folder, { settings, dtype: stored }),
  });
}

function refuseFilmSetting(settings: OftSettings, folder: PrismaticFolder): void {
  if (settings.use_film || folder.config.useFilm) {
    throw new UserError(
      `use_film is set ${settings.use_film ? "in the model section" : `in ${folder.path}/config.json`}, and FiLM ` +
        "layers are not implemented; use a checkpoint trained without them",
    );
  }
}

function shapeOf(settings: OftSettings, { config }: PrismaticFolder): OftShape {
  const perAction = settings.value_type === "action_level";
  return {
    variant: settings.implement_version,
    actionTokens: settings.num_action_chunks * settings.action_dim,
    values: settings.add_value_head ? (perAction ? settings.num_action_chunks : 1) : 0,
    proprio: settings.use_proprio ? settings.proprio_dim : 0,
    endId: config.text.eos_token_id ?? 2,
  };
}

function codecFor(
  settings: OftSettings,
  { config }: PrismaticFolder,
  { actionSpec }: LoadOptions,
): ActionCodec {
  return new ActionCodec(config, {
    unnormKey: settings.unnorm_key ?? undefined,
    bounds: settings.action_bounds,
    actionDim: settings.action_dim,
    chunk: settings.num_action_chunks,
    spec: actionSpec,
  });
}
