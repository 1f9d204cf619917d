/** An imagined env as the loop wants it. Its cursor holds the random streams; episodes under way begin anew after a resume. */

import type { Film } from "#pictures";
import { ownEntry, UserError } from "#registry";
import type { Device, DType } from "#tensor";
import type { EnvPlace, OpenedEnv } from "../env-family.ts";
import { filmsOf, type Pictures, wantsReplays } from "../films.ts";
import { openImagination, openLearnedEnv } from "./open.ts";

export async function openImagined(
  section: Readonly<Record<string, unknown>>,
  place: EnvPlace,
): Promise<OpenedEnv> {
  const where = { device: place.device, dtype: place.dtype ?? worldPrecision(section, place.device) };
  if (wantsReplays(section))
    throw new UserError(
      "video_cfg.save_replays is set for an imagined env, which has no states to play again: films it has (save_video)",
    );
  const slots = { size: place.size, seedOffset: place.seedOffset + place.firstSlot / place.size };
  const filmed = (pictures: Pictures): Film[] => filmsOf(section, pictures, place);
  const env = await openLearnedEnv(section, { ...where, ...slots }, { filmsOf: filmed });
  return {
    env,
    save: () => ({ plain: {}, tensors: env.saveStreams() }),
    async load({ tensors }) {
      if (tensors.size === 0)
        throw new UserError("the saved env has no random streams: it is of another kind");
      env.restoreStreams(tensors);
    },
    offload: () => env.offload(),
    onload: (device) => env.onload(device),
    imagination: () => env.imagination,
    async replaceWorld(changed) {
      const { world, rewardModel } = await openImagination(changed, where);
      env.replaceWorld(world, rewardModel);
    },
  };
}

const precisions: Readonly<Record<string, DType>> = { bf16: "bfloat16", fp16: "float16", fp32: "float32" };

/** `world_model_cfg.dtype` on an accelerator, bfloat16 where the section says nothing; on a CPU always float32, which is faster there. */
export function worldPrecision(section: Readonly<Record<string, unknown>>, device: Device): DType {
  if (device === "cpu") return "float32";
  const { dtype = "bf16" } = (section.world_model_cfg ?? {}) as { dtype?: string };
  const known = ownEntry(precisions, dtype);
  if (known) return known;
  throw new UserError(`world_model_cfg.dtype is ${dtype}; there are: ${Object.keys(precisions).join(", ")}`);
}
