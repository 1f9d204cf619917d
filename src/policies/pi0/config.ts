/**
 * What a π0 network looks like, and what its numbers mean: from `config_name`, and from the checkpoint's config.json.
 *
 * openpi's files say nothing about their architecture: it is implied by the name of a training configuration, so
 * the ones we know are written down here. Small models of the same format state their sizes in `tiny`, an
 * extension of ours; then, and only then, the file's other keys (horizon, prompt length, …) count as well.
 */
import { z } from "zod";
import { layerCount } from "#nn";
import { ownEntry, UserError } from "#registry";

const size = z.int().positive();

const gemmaSchema = z.looseObject({
  width: size,
  depth: layerCount,
  mlp_dim: size,
  num_heads: size,
  num_kv_heads: size,
  head_dim: size.refine((width) => width % 2 === 0, "expected an even number"),
});
export type GemmaSizes = z.infer<typeof gemmaSchema>;

const visionSchema = z.looseObject({
  hidden_size: size,
  intermediate_size: size,
  num_hidden_layers: layerCount,
  num_attention_heads: size,
  patch_size: size,
  image_size: size,
});
export type VisionSizes = z.infer<typeof visionSchema>;

/** What a configuration of openpi decides. `delta`: actions are relative to the state they start from. */
const frameSchema = z.object({
  pi05: z.boolean().describe("π0.5 instead of π0"),
  action_dim: size.describe("numbers in a model action; real ones and padding"),
  action_horizon: size.describe("actions that one answer holds"),
  max_token_len: size.describe("columns of the prompt; longer prompts are refused"),
  discrete_state_input: z.boolean().describe("the state is part of the prompt, in words"),
  extra_delta_transform: z.boolean().describe("actions are relative to the state that they start from"),
  use_quantile_norm: z.boolean().describe("scale by quantiles instead of mean and deviation"),
  asset_id: z.string().describe("whose statistics of the checkpoint scale states and actions"),
});
export type Frame = z.infer<typeof frameSchema>;
/** Some keys of the frame. */
export type Stated = { readonly [K in keyof Frame]?: Frame[K] | undefined };
/** Each key of the frame may be stated in a config's `openpi` section. */
export const frameOverrides = frameSchema.partial().shape;

const fileSchema = z.looseObject({
  ...frameOverrides,
  config_name: z.string().optional(),
  tiny: z
    .looseObject({ vlm: gemmaSchema, expert: gemmaSchema, vision: visionSchema, vocab_size: size })
    .optional(),
});

export interface Pi0Sizes {
  readonly vlm: GemmaSizes;
  readonly expert: GemmaSizes;
  readonly vision: VisionSizes;
  readonly vocabulary: number;
}

export interface Pi0Config extends Frame {
  readonly sizes: Pi0Sizes;
  /** Layers of the critic between its input and its value. */
  readonly valueHidden: readonly number[];
}

/** PaliGemma 3B, and the 300 M expert of both π0 and π0.5. */
export const publishedSizes: Pi0Sizes = {
  vlm: { width: 2048, depth: 18, mlp_dim: 16384, num_heads: 8, num_kv_heads: 1, head_dim: 256 },
  expert: { width: 1024, depth: 18, mlp_dim: 4096, num_heads: 8, num_kv_heads: 1, head_dim: 256 },
  vision: {
    hidden_size: 1152,
    intermediate_size: 4304,
    num_hidden_layers: 27,
    num_attention_heads: 16,
    patch_size: 14,
    image_size: 224,
  },
  vocabulary: 257152,
};

const pi0: Omit<Frame, "asset_id"> = {
  pi05: false,
  action_dim: 32,
  action_horizon: 50,
  max_token_len: 48,
  discrete_state_input: false,
  extra_delta_transform: false,
  use_quantile_norm: false,
};
const pi05: typeof pi0 = {
  ...pi0,
  pi05: true,
  action_horizon: 10,
  max_token_len: 200,
  use_quantile_norm: true,
};
const libero = { asset_id: "physical-intelligence/libero" };
const maniskill = { asset_id: "physical-intelligence/maniskill" };
const metaworld = { asset_id: "lerobot/metaworld_mt50", action_horizon: 5 };
const behavior = { asset_id: "physical-intelligence/behavior" };

const frames: Readonly<Record<string, Frame>> = {
  pi0_libero: { ...pi0, ...libero, extra_delta_transform: true },
  pi0_libero_horizon10: { ...pi0, ...libero, extra_delta_transform: true, action_horizon: 10 },
  pi05_libero: { ...pi05, ...libero },
  pi0_maniskill: { ...pi0, ...maniskill },
  pi05_maniskill: { ...pi05, ...maniskill },
  pi0_metaworld: { ...pi0, ...metaworld },
  pi05_metaworld: { ...pi05, ...metaworld },
  pi0_behavior: { ...pi0, ...behavior, extra_delta_transform: true },
  pi05_behavior: { ...pi05, ...behavior, action_horizon: 32, discrete_state_input: true },
  pi0_custom: { ...pi0, asset_id: "physical-intelligence/custom" },
};
export const configNames = Object.keys(frames);

/** These were given a wider critic. */
const wideCritics = ["pi05_libero", "pi05_maniskill"];

/** `stated` are the keys of the frame that the run's own config names: they win. `raw` is config.json, if there is one. */
export function resolveConfig(name: string, stated: Stated, raw: unknown, origin: string): Pi0Config {
  const frame = ownEntry(frames, name);
  if (!frame)
    throw new UserError(`no π0 configuration is called "${name}"; there are: ${configNames.join(", ")}`);
  const file = fileSchema.safeParse(raw ?? {});
  if (!file.success)
    throw new UserError(`${origin} is not a configuration of π0:\n${z.prettifyError(file.error)}`);
  const { tiny } = file.data;
  const sizes = tiny ? { ...tiny, vocabulary: tiny.vocab_size } : publishedSizes;
  checkSizes(sizes, origin);
  const config = {
    ...frame,
    ...(tiny && written(file.data)),
    ...written(stated),
    sizes,
    valueHidden: wideCritics.includes(name) ? [1024, 512, 256] : [512, 256, 128],
  };
  if (config.pi05 !== frame.pi05) {
    throw new UserError(
      `"${name}" is a ${frame.pi05 ? "π0.5" : "π0"} configuration, and pi05 is set to ${config.pi05}`,
    );
  }
  return config;
}

/** The frame's keys among others; what is there but undefined must not hide what it stands over. */
const written = (keys: Stated): Partial<Frame> =>
  Object.fromEntries(
    Object.entries(frameSchema.partial().parse(keys)).filter(([, value]) => value !== undefined),
  );

function checkSizes({ vlm, expert, vision }: Pi0Sizes, origin: string): void {
  const shared = ["depth", "num_heads", "num_kv_heads", "head_dim"] as const;
  const differing = shared.filter((key) => vlm[key] !== expert[key]);
  if (differing.length > 0) {
    throw new UserError(
      `${origin}: vlm and expert share attention, so ${differing.join(" and ")} must be the same in both`,
    );
  }
  if (vlm.num_heads % vlm.num_kv_heads !== 0 || vision.hidden_size % vision.num_attention_heads !== 0)
    throw new UserError(`${origin}: heads must divide what they share (num_kv_heads, or hidden_size)`);
  if (vision.image_size % vision.patch_size !== 0) {
    throw new UserError(
      `${origin}: image_size ${vision.image_size} is not a multiple of patch_size ${vision.patch_size}`,
    );
  }
}
