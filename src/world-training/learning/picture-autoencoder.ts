/**
 * The picture autoencoder of OpenSora and EVAC worlds: what can be set of its training, and how it begins.
 *
 * Both have the same network under other names, so one's can be the other's beginning.
 */
import { join } from "node:path";
import { z } from "zod";
import { readJsonFile } from "#formats";
import { UserError } from "#registry";
import type { Device, DType } from "#tensor";
import {
  AutoencoderKL,
  type AutoencoderKLSizes,
  type EvacSizes,
  evacSizes,
  loadEvacAutoencoder,
  loadOpenSoraAutoencoder,
} from "#worlds";
import { familyOf } from "../open-world.ts";
import { initialise } from "./initialise.ts";
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

/** Fresh, or as another world has it; in the number type that it learns in. */
export function newPictureAutoencoder(
  sizes: AutoencoderKLSizes,
  { seed, init_from: source, precision }: PictureAutoencoderSettings,
  device: Device,
): AutoencoderKL {
  const vae = new AutoencoderKL(sizes, { device });
  initialise(vae, seed);
  if (source) {
    const other = readPictureAutoencoder(source, { device });
    vae.loadState(other.state(), { source });
    other.dispose();
  }
  return precision === "bf16" ? vae.to({ dtype: "bfloat16" }) : vae;
}

/** Where training leaves EVAC's, until its denoiser is there too. */
export const firstStage = { weights: "first_stage_model.ckpt", sizes: "first_stage_model.json" } as const;
export const openSoraFolder = "vae";

interface Place {
  readonly device: Device;
  readonly dtype?: DType;
}

export function readPictureAutoencoder(world: string, place: Place): AutoencoderKL {
  const family = familyOf(world);
  if (family === "opensora") return loadOpenSoraAutoencoder(join(world, openSoraFolder), place);
  if (family === "evac") return readEvacAutoencoder(world, place).vae;
  throw new UserError(
    `${world} is a world of ${family}, whose autoencoder is one of videos, not of pictures`,
  );
}

/** With its sizes. */
export function readEvacAutoencoder(
  world: string,
  { device, dtype }: Place,
): { vae: AutoencoderKL; first_stage_config: EvacSizes["first_stage_config"] } {
  const first_stage_config = readJsonFile(join(world, firstStage.sizes));
  const sizes = evacSizes.parse({ scale_factor: 1, first_stage_config });
  const vae = loadEvacAutoencoder(join(world, firstStage.weights), sizes, {
    device,
    ...(dtype && { dtype }),
  });
  return { vae, first_stage_config: sizes.first_stage_config };
}
