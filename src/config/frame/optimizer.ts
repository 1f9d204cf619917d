/** The keys of AdamW, its rate and its clipping: the same in every training, with defaults of each one's own. */
import { z } from "zod";

export const optimizerKeys = {
  lr: z.number().positive().describe("learning rate"),
  lr_warmup_steps: z.int().min(0).describe("steps until the full rate"),
  adam_beta1: z.number().min(0).max(1).describe("AdamW's decay of the gradient's mean"),
  adam_beta2: z.number().min(0).max(1).describe("AdamW's decay of the gradient's square"),
  weight_decay: z.number().min(0).describe("AdamW's"),
  clip_grad: z.number().positive().describe("largest norm of a gradient; larger ones are scaled down"),
} as const;
