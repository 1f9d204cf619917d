/**
 * The `actor.model` section of a config for OpenVLA-like policies, in the seeds' own keys.
 *
 * Some keys exist only because users' files have them: what they would do is decided elsewhere (image size and
 * vocabulary come from the checkpoint) or has no counterpart here (attention implementation).
 */
import { z } from "zod";
import type { DType } from "#tensor";
import type { PublishedSize } from "../footprint.ts";

const precisions: Record<string, DType> = {
  bf16: "bfloat16",
  "bf16-true": "bfloat16",
  "bf16-mixed": "bfloat16",
  bfloat16: "bfloat16",
  fp16: "float16",
  "16": "float16",
  "16-true": "float16",
  float16: "float16",
  fp32: "float32",
  "32": "float32",
  "32-true": "float32",
  float32: "float32",
};

const precision = z
  .union([z.string(), z.literal(16), z.literal(32)])
  .refine((name) => String(name) in precisions, `expected one of ${Object.keys(precisions).join(", ")}`)
  .transform((name) => precisions[String(name)]!);

export const prismaticSettings = z.strictObject({
  model_type: z.string(),
  model_path: z.string().min(1).describe("a checkpoint folder"),
  precision: precision.default("bfloat16"),
  action_dim: z.int().positive().default(7).describe("numbers in an action"),
  num_action_chunks: z.int().positive().default(8).describe("actions in a chunk"),
  unnorm_key: z.string().nullish().describe("whose statistics turn [-1, 1] into the environment's units"),
  max_prompt_length: z
    .int()
    .positive()
    .default(50)
    .describe("columns of the prompt; longer prompts are refused"),
  add_value_head: z.boolean().default(false).describe("a critic on top of the language model"),
  value_type: z.enum(["chunk_level", "action_level"]).default("action_level"),
  num_images_in_input: z
    .int()
    .positive()
    .default(1)
    .describe("cameras that are looked at: 2 adds the wrist's"),
  is_lora: z.boolean().default(false).describe("train low-rank adapters instead of the weights"),
  lora_rank: z.int().positive().default(32),
  lora_alpha: z.number().positive().nullish().describe("defaults to lora_rank: a scale of 1"),
  lora_path: z.string().nullish().describe("a PEFT adapter folder to start from"),
  freeze_vision: z.boolean().default(false).describe("train neither vision tower; remember what they saw"),
  trim_padding: z.boolean().default(true).describe("cut columns that are padding in every row (same result)"),
  action_bounds: z.enum(["q99", "min_max"]).default("q99").describe("what -1 and 1 mean; ALOHA uses min_max"),
  use_proprio: z.boolean().default(false).describe("the robot's state is part of the input"),
  proprio_dim: z.int().positive().default(8).describe("numbers in the robot's state, with use_proprio"),
  use_film: z.boolean().default(false).describe("must be false: FiLM layers are not here"),
  policy_setup: z.string().nullish().describe("no effect here: the environment says what actions mean"),
  // Decided by the checkpoint or without meaning here; accepted so that existing files run as they are.
  center_crop: z.boolean().optional().describe("no effect here: the checkpoint decides"),
  vocab_size: z.int().optional().describe("no effect here: the checkpoint decides"),
  hidden_size: z.int().optional().describe("no effect here: the checkpoint decides"),
  image_size: z.array(z.int()).optional().describe("no effect here: the checkpoint decides"),
  attn_implementation: z.string().optional().describe("no effect here: attention is our own"),
  low_cpu_mem_usage: z.boolean().optional().describe("no effect here: weights are mapped, not copied"),
  trust_remote_code: z.boolean().optional().describe("no effect here: no code of a checkpoint is ever run"),
});
/** OpenVLA and OpenVLA-OFT, 7.5 B. */
export const publishedOpenVla: PublishedSize = { parameters: 7.54e9, layers: 32, width: 4096, picture: 256 };

export type PrismaticSettings = z.infer<typeof prismaticSettings>;
