/**
 * The `actor.model` section of a config for π0 and π0.5, in RLinf's own keys.
 *
 * What belongs to the run stands beside `model_type`; what belongs to the network, and overrides its configuration,
 * stands in `openpi`. Methods of the reference that are not built here are refused by name, not ignored.
 */
import { z } from "zod";
import type { DType } from "#tensor";
import { configNames, frameOverrides } from "./config.ts";
import { noiseMethods } from "./flow.ts";

const precisions: Readonly<Record<string, DType>> = {
  bf16: "bfloat16",
  "bf16-true": "bfloat16",
  "bf16-mixed": "bfloat16",
  bfloat16: "bfloat16",
  fp32: "float32",
  "32": "float32",
  "32-true": "float32",
  float32: "float32",
};

/** null means what the reference does: bfloat16 layers; norms, embeddings, projections and heads in float32. */
const precision = z
  .union([z.string(), z.literal(32)])
  .nullish()
  .refine(
    (name) => String(name ?? "bf16") in precisions,
    `expected ${Object.keys(precisions).join(", ")} or null`,
  )
  .transform((name) => precisions[String(name ?? "bf16")]!);

/** A switch that may only be off. */
const notHere = (what: string) =>
  z
    .boolean()
    .nullish()
    .refine((on) => on !== true, `${what} is not implemented; leave it off`)
    .describe(`must be off: ${what} is not here`);

const openpi = z.strictObject({
  config_name: z
    .enum(configNames as [string, ...string[]])
    .default("pi0_libero")
    .describe("openpi's name of the network and of its data; the keys below override parts of it"),
  ...frameOverrides,
  num_images_in_input: z.int().min(1).max(3).default(2).describe("cameras that are looked at"),
  noise_method: z
    .enum(noiseMethods)
    .default("flow_sde")
    .describe("how exploration enters the denoising; flow_ode has none"),
  noise_level: z.number().min(0).default(0.5).describe("strength of the noise of flow_sde and flow_cps"),
  noise_logvar_range: z
    .tuple([z.number().positive(), z.number().positive()])
    .default([0.08, 0.16])
    .describe("least and greatest deviation of flow_noise"),
  joint_logprob: z.boolean().default(false).describe("every step is noisy, not one"),
  ignore_last: z.boolean().default(false).describe("the last step is never the noisy one"),
  safe_get_logprob: z.boolean().default(false).describe("-(x - mean)^2 in place of the log-density"),
  train_expert_only: z.boolean().default(true).describe("the vision-language model stays as it is"),
  detach_critic_input: z.boolean().nullish().describe("the critic's error does not reach the expert"),
  chunk_critic_input: z.boolean().default(false).describe("the critic reads the chunk, not the horizon"),
  value_after_vlm: z.boolean().default(false).describe("the critic reads the vision-language model"),
  value_vlm_mode: z
    .enum(["mean_token", "last_token", "first_token"])
    .default("mean_token")
    .describe("with value_after_vlm: which tokens the critic reads"),
  // The same as the key beside model_type, which is the one that counts unless they differ.
  action_chunk: z.int().positive().optional().describe("as num_action_chunks, with which it must agree"),
  action_env_dim: z
    .int()
    .positive()
    .optional()
    .describe("as action_dim beside model_type, with which it must agree"),
  num_steps: z
    .int()
    .positive()
    .optional()
    .describe("as num_steps beside model_type, with which it must agree"),
  add_value_head: z
    .boolean()
    .optional()
    .describe("as add_value_head beside model_type, with which it must agree"),
  // Of the reference's other methods.
  noise_anneal: notHere("annealing of the noise level"),
  noise_params: z
    .array(z.number())
    .optional()
    .describe("no effect here: it belongs to noise_anneal, which is not here"),
  double_layer: notHere("double_layer"),
  is_nft: notHere("NFT"),
  use_dsrl: notHere("DSRL"),
  use_rlt: notHere("RLT"),
  rtc_enabled: notHere("real-time chunking"),
});

/** Settings of methods that are off: accepted so that existing files run as they are. */
const ofOtherMethods = /^(dsrl|rlt|rtc)_/;

const withoutOthers = (section: unknown): unknown =>
  typeof section !== "object" || section === null
    ? section
    : Object.fromEntries(
        Object.entries(section).filter(([key]) => key === "rtc_enabled" || !ofOtherMethods.test(key)),
      );

export const pi0Settings = z.strictObject({
  model_type: z.string(),
  model_path: z.string().min(1).describe("a checkpoint folder"),
  precision,
  action_dim: z.int().positive().default(7).describe("numbers in an action of the environment"),
  num_action_chunks: z.int().positive().default(10).describe("actions that are carried out of each answer"),
  num_steps: z.int().positive().default(4).describe("steps of denoising"),
  add_value_head: z.boolean().default(false),
  tokenizer_path: z
    .string()
    .nullish()
    .describe("folder with Gemma's tokenizer.json; the checkpoint's own by default"),
  openpi: z.preprocess(withoutOthers, openpi).prefault({}),
  openpi_data: z
    .strictObject({
      norm_stats_path: z
        .string()
        .optional()
        .describe("file or folder of the statistics, if not in the checkpoint"),
      repo_id: z.string().optional().describe("no effect here: statistics are read from files"),
    })
    .nullish()
    .describe("where the statistics are, if not in the checkpoint"),
  is_lora: z
    .boolean()
    .default(false)
    .describe("adapters on the vision-language model; the expert trains as it is"),
  lora_rank: z.int().positive().default(32),
  lora_alpha: z.number().positive().nullish().describe("defaults to lora_rank: a scale of 1"),
  lora_path: z
    .string()
    .nullish()
    .refine((path) => path == null, "adapters of π0 are not read: merge them into the checkpoint first"),
  // Decided elsewhere or without meaning here.
  use_proprio: z.boolean().optional().describe("no effect here: the state is always read"),
  value_type: z.string().optional(),
  policy_setup: z.string().nullish().describe("no effect here: the environment says what actions mean"),
});
export type Pi0Settings = z.infer<typeof pi0Settings>;
