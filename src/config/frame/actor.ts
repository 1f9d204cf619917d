/** `actor`: the policy's model, its optimizer, and how training is spread over accelerators. */
import { z } from "zod";

/** fp32, bf16, fp16 and their spellings; null leaves it to the family. */
export const precision = z.union([z.string(), z.literal(16), z.literal(32)]).nullable();

/** The keys of `actor.model` that every policy shares. Loose: the family checks the others. */
export const modelFrame = z.looseObject({
  model_type: z.string().describe("the family"),
  model_path: z.string().describe("folder of the checkpoint, in its published layout"),
  precision: precision.default("bf16"),
  action_dim: z.int().positive().describe("numbers in an action"),
  num_action_chunks: z.int().positive().describe("actions per decision"),
  add_value_head: z.boolean().default(false).describe("a critic on top of the model"),
  value_type: z.enum(["action_level", "chunk_level"]).default("action_level"),
  is_lora: z.boolean().default(false).describe("train low-rank additions instead of the weights"),
  lora_rank: z.int().positive().default(32).describe("rank of the adapters"),
  lora_path: z.string().nullish().describe("a PEFT adapter folder to start from"),
});

const optimizer = z.strictObject({
  lr: z.number().positive().describe("learning rate"),
  value_lr: z.number().positive().optional().describe("learning rate of the critic; as lr if absent"),
  adam_beta1: z.number().min(0).max(1).default(0.9),
  adam_beta2: z.number().min(0).max(1).default(0.999),
  adam_eps: z.number().positive().default(1e-8),
  weight_decay: z.number().min(0).default(0.01).describe("AdamW's"),
  clip_grad: z.number().positive().describe("largest norm of a gradient; larger ones are scaled down"),
  critic_warmup_steps: z.int().min(0).default(0).describe("optimizer steps that train only the value head"),
  master_weights: z
    .boolean()
    .default(true)
    .describe("keep 32-bit copies of 16-bit weights, so that small updates are not rounded away"),
  lr_scheduler: z.enum(["constant", "cosine", "openpi_cosine"]).default("constant"),
  lr_warmup_steps: z.int().default(-1).describe("updates until the full rate; -1: none"),
  lr_warmup_steps_ratio: z.number().min(0).max(1).default(0),
  total_training_steps: z.int().min(0).default(0),
  min_lr: z.number().min(0).default(0).describe("where a cosine schedule ends"),
  min_lr_rate: z.number().min(0).nullish(),
  num_cycles: z.number().positive().default(0.5),
});

const dtype = z.string().nullish();

const sharding = z.strictObject({
  strategy: z.enum(["fsdp", "fsdp2"]).default("fsdp"),
  sharding_strategy: z
    .enum(["full_shard", "shard_grad_op", "hybrid_shard", "no_shard"])
    .default("full_shard"),
  gradient_checkpointing: z.boolean().default(false),
  gradient_checkpointing_use_reentrant: z.boolean().default(true),
  cpu_offload: z.boolean().default(false),
  offload_pin_memory: z.boolean().default(false),
  reshard_after_forward: z.boolean().default(true),
  enable_gradient_accumulation: z.boolean().default(true),
  forward_prefetch: z.boolean().default(false),
  limit_all_gathers: z.boolean().default(false),
  backward_prefetch: z.enum(["pre", "post"]).nullish(),
  use_orig_params: z.boolean().default(false),
  use_liger_kernel: z.boolean().default(false),
  fsdp_size: z.int().nullish(),
  mixed_precision: z
    .strictObject({ param_dtype: dtype, reduce_dtype: dtype, buffer_dtype: dtype })
    .prefault({}),
  amp_autocast: z
    .strictObject({
      enabled: z.boolean().default(false),
      precision: z.enum(["fp16", "bf16", "fp32"]).default("bf16"),
    })
    .prefault({}),
  grad_scaler: z
    .strictObject({
      enabled: z.boolean().default(false),
      init_scale: z.number().nullish(),
      growth_interval: z.int().nullish(),
    })
    .prefault({}),
  save_full_model_weights: z.boolean().default(true),
});

export const actorFrame = z.strictObject({
  group_name: z.string().default("ActorGroup"),
  training_backend: z.enum(["fsdp"]),
  micro_batch_size: z.int().positive().describe("samples per forward and backward pass, per rank"),
  global_batch_size: z.int().positive().describe("samples per optimizer step, over all ranks"),
  seed: z.int().default(1234),
  enable_offload: z.boolean().default(true),
  debug_nan_checks: z.boolean().default(false),
  enable_sft_co_train: z.boolean().default(false),
  sft_data_path: z.string().nullish(),
  sft_loss_weight: z.number().nullish(),
  config_name: z.string().nullish(),
  sync_bucket_capacity: z.int().positive().default(134_217_728),
  model: modelFrame,
  optim: optimizer,
  fsdp_config: sharding.prefault({}),
});
