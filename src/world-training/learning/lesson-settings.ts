/** How the lessons of a denoiser are drawn: keys that the three families share. */
import { z } from "zod";

export const lessonSettings = {
  time_mean: z.number().default(0.6),
  time_std: z.number().positive().default(1.3),
  pure_noise_share: z.number().min(0).max(1).default(0.15),
  memory_noise: z.number().min(0).default(0.1),
  motion_weight: z.number().min(0).default(3),
  aligned_share: z
    .number()
    .min(0)
    .max(1)
    .default(0.5)
    .describe("of lessons that begin where imagined chunks do"),
  imagined_share: z
    .number()
    .min(0)
    .max(1)
    .default(0)
    .describe("of lessons that remember what the world of init_from imagined"),
  imagined_episodes: z
    .int()
    .positive()
    .default(20_000)
    .describe("recorded ones, at most, that it imagines for them"),
  imagined_steps: z.int().positive().default(2).describe("of sampling, for each chunk that it imagines"),
};

export const emphasisSettings = {
  emphasis_weight: z.number().min(0).default(3).describe("of colorful places: objects, not the arm or table"),
};

/** Of an autoencoder's lessons. */
export const detailWeight = z
  .number()
  .min(0)
  .default(4)
  .describe("of pixels that stand out from their surroundings: fingers, edges, lines");
