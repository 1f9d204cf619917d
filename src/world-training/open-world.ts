/** Opens a world from its folder, whichever family's it is. */
import { UserError } from "#registry";
import type { Device, DType } from "#tensor";
import { type FolderOptions, recognizeWorld, type World, type WorldFamily } from "#worlds";

export interface OpenWorldOptions extends FolderOptions {
  readonly dtype?: DType;
}

/** The family of the world in a folder, read off its files. */
export async function recognizedWorld(folder: string): Promise<WorldFamily> {
  const family = await recognizeWorld(folder);
  if (family) return family;
  throw new UserError(`${folder} holds no world: train one with reverie world train-vae and train`);
}

export async function openWorld(folder: string, options: OpenWorldOptions): Promise<World> {
  const family = await recognizedWorld(folder);
  const { device, dtype } = options;
  return family.load(family.settings.parse(family.blockOf(folder, options)), { device, dtype });
}

/** On a GPU worlds imagine in bfloat16, and it is several times faster. */
export const asImagined = (device: Device): { dtype?: DType } =>
  device === "cpu" ? {} : { dtype: "bfloat16" };
