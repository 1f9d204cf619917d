/**
 * What a family offers those who make worlds of it: the training of its autoencoder and of its denoiser, and how recorded frames look
 * through its autoencoder.
 *
 * One object per family, in the family's folder here. Commands, recipes and co-evolution use whichever family is named.
 */
import type { z } from "zod";
import type { RecordedFrames } from "./frames/recorded-frames.ts";
import type { ThroughAutoencoder } from "./learning/through-autoencoder.ts";
import type { LoopHooks } from "./learning/training-loop.ts";

/** Trains one part of a world from recordings and writes it into the world's folder. */
export interface PartTraining<S extends z.ZodType = z.ZodType> {
  readonly settings: S;
  train(frames: RecordedFrames, settings: z.infer<S>, world: string, hooks?: LoopHooks): Promise<void>;
}

export interface WorldTraining {
  readonly autoencoder: PartTraining;
  readonly denoiser: PartTraining;
  /** Of a finished world: the denoiser's settings that must stay as they are when it continues to learn. */
  sizesOf(world: string): Readonly<Record<string, unknown>>;
  through(world: string, frames: RecordedFrames): Promise<ThroughAutoencoder>;
}

/** Checks a part while it is written, and forgets the type of its settings. */
export const definePart = <S extends z.ZodType>(part: PartTraining<S>): PartTraining =>
  part as unknown as PartTraining;
