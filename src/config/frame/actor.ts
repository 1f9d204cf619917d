/** `actor`: the policy's model, its optimizer, and how training is spread over accelerators. */
import { z } from "zod";
import { optimizerKeys } from "./optimizer.ts";

/** fp32, bf16, fp16 and their spellings; null leaves it to the family. */
export const precision = z.union([z.string(), z.literal(16), z.literal(32)]).nullable();

/** The keys of `actor.model` that every policy shares. Loose: the family checks the others. */
export const modelFrame = z.looseObject({
  model_type: z.string().describe("the family"),
  model_path: z.string().describe("folder of the checkpoint, in its published layout"),
  precision: precision
    .default("bf16")
    .describe(
      "in which the network computes: bf16, fp16, fp32 and other spellings; null: as the family does",
    ),
  action_dim: z.int().positive().describe("numbers in an action"),
  num_action_chunks: z.int().positive().describe("actions per decision"),
  add_value_head: z.boolean().default(false).describe("a critic on top of the model"),
  value_type: z
    .enum(["action_level", "chunk_level"])
    .default("action_level")
    .describe("one value of the critic for each action, or one for each chunk"),
  is_lora: z.boolean().default(false).describe("train low-rank additions instead of the weights"),
  lora_rank: z.int().positive().default(32).describe("rank of the adapters"),
  lora_path: z.string().nullish().describe("a PEFT adapter folder to start from"),
});

const optimizer = z.strictObject({
  lr: optimizerKeys.lr,
  value_lr: z.number().positive().optional().describe("learning rate of the critic; as lr if absent"),
  adam_beta1: optimizerKeys.adam_beta1.default(0.9),
  adam_beta2: optimizerKeys.adam_beta2.default(0.999),
  adam_eps: z.number().positive().default(1e-8).describe("added to AdamW's divisor"),
  weight_decay: optimizerKeys.weight_decay.default(0.01),
  clip_grad: optimizerKeys.clip_grad,
  critic_warmup_steps: z.int().min(0).default(0).describe("optimizer steps that train only the value head"),
  master_weights: z
    .boolean()
    .default(true)
    .describe("keep 32-bit copies of 16-bit weights, so that small updates are not rounded away"),
  lr_scheduler: z
    .enum(["constant", "cosine", "openpi_cosine"])
    .default("constant")
    .describe("how the rate moves after its warm-up, from training step to training step"),
  lr_warmup_steps: z.int().default(-1).describe("updates until the full rate; -1: none"),
  lr_warmup_steps_ratio: z
    .number()
    .min(0)
    .max(1)
    .default(0)
    .describe("warm-up as a share of all steps, where lr_warmup_steps is -1"),
  total_training_steps: z.int().min(0).default(0).describe("length of the schedule; 0: that of the run"),
  min_lr: z.number().min(0).default(0).describe("where a cosine schedule ends"),
  min_lr_rate: z
    .number()
    .min(0)
    .nullish()
    .describe("where a cosine schedule ends, as a share of lr; wins over min_lr"),
  num_cycles: z.number().positive().default(0.5).describe("waves of the cosine schedule; 0.5 falls once"),
});

const dtype = z.string().nullish();
const tunesFsdp = "no effect here: it tunes PyTorch's FSDP, which is not used";
const ownPrecision = "no effect here: the model computes in actor.model.precision, with 32-bit masters";

const sharding = z.strictObject({
  strategy: z.enum(["fsdp", "fsdp2"]).default("fsdp").describe("no effect here: both mean our own sharding"),
  sharding_strategy: z
    .enum(["full_shard", "shard_grad_op", "hybrid_shard", "no_shard"])
    .default("full_shard")
    .describe(
      "what ranks spread among them: weights too, gradients and optimizer state, or nothing; on one machine hybrid_shard is full_shard",
    ),
  gradient_checkpointing: z
    .boolean()
    .default(false)
    .describe("keep each layer's input and compute the rest again on the way back; full_shard always does"),
  gradient_checkpointing_use_reentrant: z
    .boolean()
    .default(true)
    .describe("no effect here: there is one way"),
  cpu_offload: z.boolean().default(false).describe("no effect here: see actor.enable_offload"),
  offload_pin_memory: z.boolean().default(false).describe(tunesFsdp),
  reshard_after_forward: z
    .boolean()
    .default(true)
    .describe("false: full_shard and hybrid_shard keep weights whole, which is shard_grad_op"),
  enable_gradient_accumulation: z
    .boolean()
    .default(true)
    .describe("no effect here: gradients of micro-batches are always summed"),
  forward_prefetch: z.boolean().default(false).describe(tunesFsdp),
  limit_all_gathers: z.boolean().default(false).describe(tunesFsdp),
  backward_prefetch: z.enum(["pre", "post"]).nullish().describe(tunesFsdp),
  use_orig_params: z.boolean().default(false).describe(tunesFsdp),
  use_liger_kernel: z.boolean().default(false).describe("no effect here: fused kernels are our own"),
  fsdp_size: z.int().nullish().describe(tunesFsdp),
  mixed_precision: z
    .strictObject({
      param_dtype: dtype.describe(ownPrecision),
      reduce_dtype: dtype.describe(ownPrecision),
      buffer_dtype: dtype.describe(ownPrecision),
    })
    .prefault({}),
  amp_autocast: z
    .strictObject({
      enabled: z.boolean().default(false).describe(ownPrecision),
      precision: z.enum(["fp16", "bf16", "fp32"]).default("bf16").describe(ownPrecision),
    })
    .prefault({}),
  grad_scaler: z
    .strictObject({
      enabled: z.boolean().default(false).describe(ownPrecision),
      init_scale: z.number().nullish().describe(ownPrecision),
      growth_interval: z.int().nullish().describe(ownPrecision),
    })
    .prefault({}),
  save_full_model_weights: z
    .boolean()
    .default(true)
    .describe("no effect here: checkpoints always hold all weights, in the published layout"),
});

export const actorFrame = z.strictObject({
  group_name: z.string().default("ActorGroup").describe("no effect here: workers are not called by name"),
  training_backend: z.enum(["fsdp"]).describe("must be fsdp; the training is our own"),
  micro_batch_size: z.int().positive().describe("samples per forward and backward pass, per rank"),
  global_batch_size: z.int().positive().describe("samples per optimizer step, over all ranks"),
  seed: z.int().default(1234).describe("no effect here: every random stream is derived from runner.seed"),
  enable_offload: z
    .boolean()
    .default(true)
    .describe(
      "moments, masters and the reference policy leave the accelerator between phases; the weights too, where no rollout worker shares them",
    ),
  debug_nan_checks: z
    .boolean()
    .default(false)
    .describe(
      "end the run at a training step with any gradient that is not finite; off: such updates are skipped, and only a step without any other ends it",
    ),
  enable_sft_co_train: z.boolean().default(false).describe("no effect here: not available; see reverie sft"),
  sft_data_path: z.string().nullish().describe("no effect here: not available; see reverie sft"),
  sft_loss_weight: z.number().nullish().describe("no effect here: not available; see reverie sft"),
  config_name: z.string().nullish().describe("no effect here: actor.model.openpi.config_name decides"),
  sync_bucket_capacity: z
    .int()
    .positive()
    .default(134_217_728)
    .describe("no effect here: weights are handed over whole"),
  model: modelFrame,
  optim: optimizer,
  fsdp_config: sharding.prefault({}),
});
