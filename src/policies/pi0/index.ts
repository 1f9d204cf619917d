/**
 * The π0 family (`model_type: openpi`): from a config's model section and a checkpoint folder to a policy.
 */
import { UserError } from "#registry";
import { Generator } from "#tensor";
import { type PublishedSize, transformerFootprint } from "../footprint.ts";
import { definePolicy } from "../policy.ts";
import { lazyTokenizer, type PrismaticLoadOptions } from "../prismatic/tokenizer.ts";
import { Pi0Codec } from "./actions.ts";
import { adaptVlm } from "./adapters.ts";
import { isPi0Folder, openPi0Folder, readNormStats, writePi0Folder } from "./checkpoint.ts";
import { type Pi0Config, resolveConfig } from "./config.ts";
import { type CriticOptions, Denoiser } from "./denoiser.ts";
import type { FlowOptions } from "./flow.ts";
import { type Pi0Heads, Pi0Model } from "./model.ts";
import { Pi0Policy } from "./pi0-policy.ts";
import { Pi0Reader } from "./reader.ts";
import { type Pi0Settings, pi0Settings } from "./settings.ts";
import { fillPi0, freeze, storedWeights } from "./weights.ts";

export { pi0Settings } from "./settings.ts";

/** The action expert and its projections, which are all that is trained by default. */
const expertShare = 0.09;

/** Where π0's files keep what others have beside model_type. */
const inner = ({ openpi }: Readonly<Record<string, unknown>>) =>
  (openpi ?? {}) as Readonly<Record<string, unknown>>;

const published: PublishedSize = {
  parameters: 3.5e9,
  layers: 18,
  width: 2048,
  picture: 256,
  pictures: (settings) => settings.num_images_in_input ?? inner(settings).num_images_in_input,
  trained: (settings, parameters) =>
    inner(settings).train_expert_only === false ? undefined : parameters * expertShare,
};

export const openPi = definePolicy({
  settings: pi0Settings,
  footprint: transformerFootprint(published),
  load: async (settings, options = {}) => loadPi0(settings, options),
  recognizes: isPi0Folder,
});

export function loadPi0(
  settings: Pi0Settings,
  { tokenizer: given, ...options }: PrismaticLoadOptions = {},
): Pi0Policy {
  refuseContradictions(settings);
  const { openpi } = settings;
  const folder = openPi0Folder(settings.model_path);
  const config = resolveConfig(openpi.config_name, openpi, folder.raw, `${folder.path}/config.json`);
  const statistics = readNormStats(folder.path, config.asset_id, settings.openpi_data?.norm_stats_path);
  const { num_action_chunks: chunk, action_dim: actionSize } = settings;
  const codec = new Pi0Codec(statistics, config, { chunk, actionSize, spec: options.actionSpec });
  const { device = "cpu", dtype = settings.precision } = options;
  const heads = headsOf(settings);
  const module = new Pi0Model(config, heads, { device, dtype });
  const generator = new Generator(options.seed ?? 0, device);
  fillPi0(module, folder.weights(), folder.path, { noiseRange: openpi.noise_logvar_range, generator });
  if (settings.is_lora)
    adaptVlm(module, settings.lora_rank, settings.lora_alpha ?? settings.lora_rank, generator);
  else freeze(module, openpi.train_expert_only);
  return new Pi0Policy({
    module,
    denoiser: new Denoiser(module, flowOf(settings), criticOf(settings)),
    codec,
    reader: new Pi0Reader({
      config,
      codec,
      tokenizer: given
        ? () => given
        : lazyTokenizer(settings.tokenizer_path ?? folder.path, config.sizes.vocabulary),
      cameras: openpi.num_images_in_input,
      device,
    }),
    device,
    dtype,
    chunk,
    actionSize,
    valueCount: heads.critic === "none" ? 0 : 1,
    cudaGraphs: (options.cudaGraphs ?? false) && device.startsWith("cuda"),
    shape: chainShape(settings, config),
    reading: { whole: heads.critic === "vlm", trained: settings.is_lora || !openpi.train_expert_only },
    save: async (path, { dtype: stored }) =>
      writePi0Folder(path, folder, {
        ...storedWeights(module, stored),
        statistics,
        assetId: config.asset_id,
      }),
  });
}

const headsOf = ({ add_value_head, openpi }: Pi0Settings): Pi0Heads => ({
  critic: add_value_head ? (openpi.value_after_vlm ? "vlm" : "expert") : "none",
  noise: openpi.noise_method === "flow_noise",
});

const flowOf = ({ openpi }: Pi0Settings): FlowOptions => ({
  method: openpi.noise_method,
  level: openpi.noise_level,
  joint: openpi.joint_logprob,
  safe: openpi.safe_get_logprob,
});

const criticOf = (settings: Pi0Settings): CriticOptions => {
  const { openpi, num_action_chunks: chunk } = settings;
  return {
    reads: headsOf(settings).critic,
    detach: openpi.detach_critic_input ?? false,
    actions: openpi.chunk_critic_input ? chunk : undefined,
    tokens: openpi.value_vlm_mode,
    cameras: openpi.num_images_in_input,
  };
};

const chainShape = ({ num_steps: steps, openpi }: Pi0Settings, config: Pi0Config) => ({
  steps,
  horizon: config.action_horizon,
  size: config.action_dim,
  joint: openpi.joint_logprob,
  ignoreLast: openpi.ignore_last,
});

/** RLinf's files say some things twice, once beside model_type and once in `openpi`. They must agree. */
function refuseContradictions(settings: Pi0Settings): void {
  const pairs = [
    ["num_action_chunks", "action_chunk"],
    ["action_dim", "action_env_dim"],
    ["num_steps", "num_steps"],
    ["add_value_head", "add_value_head"],
  ] as const;
  for (const [outer, inner] of pairs) {
    const stated = settings.openpi[inner];
    if (stated !== undefined && stated !== settings[outer]) {
      throw new UserError(
        `${outer} is ${settings[outer]} and openpi.${inner} is ${stated}; they mean the same, so set one`,
      );
    }
  }
}
