/**
 * The families of world models, found by the name that a config's `env_type` gives them.
 *
 * Each parses its own part of the env block and loads itself from a folder in the published layout; nothing outside
 * a family's folder knows its settings.
 */

import type { z } from "zod";
import { Registry } from "#registry";
import type { Device, DType } from "#tensor";
import type { World } from "./world.ts";

export interface WorldPlace {
  readonly device?: Device | undefined;
  readonly dtype?: DType | undefined;
}

export interface WorldFamily<S extends z.ZodType = z.ZodType> {
  readonly name: string;
  /** What the family reads of an env block, in the seeds' keys; other keys pass. */
  readonly settings: S;
  load(settings: z.infer<S>, place: WorldPlace): World;
}

/** Keeps the settings' type while a family is written. */
export const defineWorld = <S extends z.ZodType>(family: WorldFamily<S>): WorldFamily<S> => family;

export const worlds = new Registry<WorldFamily>("world", {
  opensora: async () => (await import("./opensora/index.ts")).opensora as WorldFamily,
  wan: async () => (await import("./wan/index.ts")).wan as WorldFamily,
  evac: async () => (await import("./evac/index.ts")).evac as WorldFamily,
});
