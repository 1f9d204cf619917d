/**
 * What a family of world models offers the house: how its env block looks, how its folder is recognized, and how it is loaded.
 *
 * One object per family, in the family's own folder. Environments, commands and co-evolution ask these questions of whichever family a
 * configuration or a folder names, and know none by name.
 */
import type { z } from "zod";
import type { FamilySettings } from "#registry";
import type { Device, DType } from "#tensor";
import type { AutoencoderKL } from "./autoencoder-kl/autoencoder-kl.ts";
import type { NamedRewardModel } from "./section-keys.ts";
import type { World } from "./world.ts";

export interface WorldPlace {
  readonly device?: Device | undefined;
  readonly dtype?: DType | undefined;
}

/** How a world that lies in a folder is to imagine. */
export interface FolderOptions {
  readonly device: Device;
  /** Denoising steps per chunk; the family's default where absent. */
  readonly samplingSteps?: number | undefined;
  /** Height and width of pictures. */
  readonly size: readonly [number, number];
}

/** An env block of a configuration: every key that the family knows beside those of all learned environments. */
export interface WorldSection extends Pick<FamilySettings, "check" | "footprint"> {
  readonly keys: Readonly<Record<string, z.ZodType>>;
  /** Where the block says how many frames are imagined at once. */
  readonly chunkKey: string;
}

export interface WorldFamily<S extends z.ZodType = z.ZodType> {
  readonly name: string;
  /** What the family reads of an env block, in the seeds' keys; other keys pass. */
  readonly settings: S;
  readonly section: WorldSection;
  load(settings: z.infer<S>, place: WorldPlace): World;
  /** Where the block names its reward model, if it is not `reward_model`. */
  rewardModelOf?(settings: z.infer<S>): NamedRewardModel | undefined;
  /** Whether the folder holds a world of this family, or a part of one. */
  recognizes(folder: string): boolean;
  /** The env block of the world in this folder, as our own commands use it; sizes are read off what training wrote. */
  blockOf(folder: string, options: FolderOptions): object;
  /** The folder's autoencoder alone, if it is one of single pictures: then others of that kind can begin with it. */
  pictureAutoencoder?(folder: string, place: WorldPlace): AutoencoderKL;
}

/** Checks a family while it is written, and forgets the type of its settings for the catalogue. */
export const defineWorld = <S extends z.ZodType>(family: WorldFamily<S>): WorldFamily =>
  family as unknown as WorldFamily;
