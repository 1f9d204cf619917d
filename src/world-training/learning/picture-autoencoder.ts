/**
 * The picture autoencoder that several families have: what can be set of its training, and how it begins.
 *
 * It is the same network under other names, so one family's can be another's beginning.
 */
import { z } from "zod";
import { UserError } from "#registry";
import type { Device } from "#tensor";
import { AutoencoderKL, type AutoencoderKLSizes, type WorldPlace } from "#worlds";
import { recognizedWorld } from "../open-world.ts";
import { initialize } from "./initialize.ts";
import { detailWeight } from "./lesson-settings.ts";
import { storedType } from "./stored-weights.ts";
import { weightTrainingSettings } from "./weight-training.ts";

/** Besides the network's sizes. */
export const pictureAutoencoderSettings = weightTrainingSettings.extend({
  steps: z.int().positive().default(3000),
  batch_size: z.int().positive().default(128),
  lr: z.number().positive().default(1e-3),
  norm_num_groups: z.int().positive().default(8),
  squared_weight: z.number().min(0).default(2),
  detail_weight: detailWeight,
  kl_weight: z.number().min(0).default(1e-4),
  precision: z.enum(["fp32", "bf16"]).default("fp32").describe("of the network while it learns"),
  init_from: z.string().nullish().describe("an OpenSora or EVAC world whose autoencoder to go on from"),
  store: storedType,
});
type PictureAutoencoderSettings = z.infer<typeof pictureAutoencoderSettings>;

/** The autoencoder that a new one is to begin with, where one is wanted. */
export const readBeginning = async (
  { init_from: source }: Pick<PictureAutoencoderSettings, "init_from">,
  device: Device,
): Promise<AutoencoderKL | undefined> => (source ? readPictureAutoencoder(source, { device }) : undefined);

/** Fresh, or as another world has it, which is then no longer needed; in the number type that it learns in. */
export function newPictureAutoencoder(
  sizes: AutoencoderKLSizes,
  { seed, init_from, precision }: PictureAutoencoderSettings,
  device: Device,
  beginning?: AutoencoderKL,
): AutoencoderKL {
  const vae = new AutoencoderKL(sizes, { device });
  initialize(vae, seed);
  if (beginning) {
    vae.loadState(beginning.state(), { source: init_from ?? "another world" });
    beginning.dispose();
  }
  return precision === "bf16" ? vae.to({ dtype: "bfloat16" }) : vae;
}

/** Of the world in a folder, if its family's is one of pictures. */
export async function readPictureAutoencoder(world: string, place: WorldPlace): Promise<AutoencoderKL> {
  const family = await recognizedWorld(world);
  if (family.pictureAutoencoder) return family.pictureAutoencoder(world, place);
  throw new UserError(
    `${world} is a world of ${family.name}, whose autoencoder is one of videos, not of pictures`,
  );
}
