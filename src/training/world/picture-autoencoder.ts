/**
 * The picture autoencoder in a world's folder. OpenSora and EVAC have the same network under other names, so one's can be the other's beginning.
 */
import { join } from "node:path";
import { readJsonFile } from "#formats";
import { UserError } from "#registry";
import type { Device, DType } from "#tensor";
import {
  type AutoencoderKL,
  type EvacSizes,
  evacSizes,
  loadEvacAutoencoder,
  loadOpenSoraAutoencoder,
} from "#worlds";
import { familyOf } from "./open-world.ts";

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
