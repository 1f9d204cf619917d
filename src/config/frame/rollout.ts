/** `rollout`: how the policy is asked for actions. */
import { z } from "zod";

const sampling = z.strictObject({
  do_sample: z
    .boolean()
    .default(true)
    .describe("false: the most probable action, in training and evaluation"),
  temperature: z.number().min(0).nullish(),
  temperature_train: z
    .number()
    .positive()
    .optional()
    .describe("for sampling and for recomputing log-probabilities"),
  temperature_eval: z.number().optional().describe("evaluation samples when above 0, else it is greedy"),
  top_k: z.int().nullable().default(0).describe("only the k most probable tokens, when above 0"),
  top_p: z.number().nullable().default(1),
  repetition_penalty: z.number().nullable().default(1),
  max_new_tokens: z.int().nullish(),
});

export const rolloutFrame = z.strictObject({
  group_name: z.string().default("RolloutGroup"),
  backend: z.string().optional(),
  generation_backend: z.string().optional(),
  rollout_backend: z.string().optional(),
  enable_offload: z.boolean().default(true),
  pipeline_stage_num: z
    .int()
    .positive()
    .default(1)
    .describe("batches in flight, so that env and policy overlap"),
  model: z.looseObject({ model_path: z.string(), precision: z.string().nullish() }),
  sampling_params: sampling.prefault({}),
  collect_prev_infos: z.boolean().default(true),
  collect_final_values: z.boolean().default(true),
  collect_transitions: z.boolean().default(false),
  enable_torch_compile: z.boolean().default(false),
  torch_compile_mode: z.string().nullish(),
  enable_cuda_graph: z.boolean().default(false),
  rollout_queue_size: z.int().min(0).default(0),
});
