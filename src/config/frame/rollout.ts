/** `rollout`: how the policy is asked for actions. */
import { z } from "zod";

const sampling = z.strictObject({
  do_sample: z
    .boolean()
    .default(true)
    .describe("false: the most probable action, in training and evaluation"),
  temperature: z
    .number()
    .min(0)
    .nullish()
    .describe("stands for temperature_train and temperature_eval where they are absent"),
  temperature_train: z
    .number()
    .positive()
    .optional()
    .describe("for sampling and for recomputing log-probabilities"),
  temperature_eval: z.number().optional().describe("evaluation samples when above 0, else it is greedy"),
  top_k: z.int().nullable().default(0).describe("only the k most probable tokens, when above 0"),
  top_p: z.number().nullable().default(1).describe("no effect here: no policy samples with top_p"),
  repetition_penalty: z.number().nullable().default(1).describe("no effect here: actions are not text"),
  max_new_tokens: z.int().nullish().describe("no effect here: the policy knows how many tokens a chunk has"),
});

export const rolloutFrame = z.strictObject({
  group_name: z.string().default("RolloutGroup").describe("no effect here: workers are not called by name"),
  backend: z.string().optional().describe("no effect here: the policy is run by our own code"),
  generation_backend: z.string().optional().describe("no effect here: the policy is run by our own code"),
  rollout_backend: z.string().optional().describe("no effect here: the policy is run by our own code"),
  enable_offload: z
    .boolean()
    .default(true)
    .describe("a copy of the weights leaves the accelerator while the actor learns"),
  pipeline_stage_num: z
    .int()
    .positive()
    .default(1)
    .describe("batches in flight, so that env and policy overlap"),
  model: z.looseObject({
    model_path: z
      .string()
      .describe("as actor.model.model_path: the policy that acts is the one that is trained"),
    precision: z.string().nullish().describe("as actor.model.precision"),
  }),
  sampling_params: sampling.prefault({}),
  collect_prev_infos: z
    .boolean()
    .default(true)
    .describe("no effect here: log-probs and values are always recorded"),
  collect_final_values: z
    .boolean()
    .default(true)
    .describe("no effect here: last values are recorded where there is a critic"),
  collect_transitions: z
    .boolean()
    .default(false)
    .describe("no effect here: rollouts hold what learning needs"),
  enable_torch_compile: z
    .boolean()
    .default(false)
    .describe("no effect here: not available; see enable_cuda_graph"),
  torch_compile_mode: z.string().nullish().describe("no effect here: not available"),
  enable_cuda_graph: z
    .boolean()
    .default(false)
    .describe("replay captured forward passes of the policy, on a GPU"),
  rollout_queue_size: z
    .int()
    .min(0)
    .default(0)
    .describe("no effect here: questions and answers wait for each other"),
});
