/** An imagined env as the loop wants it. Its cursor holds the random streams; episodes under way begin anew after a resume. */
import { UserError } from "#registry";
import type { EnvPlace, OpenedEnv } from "../open-env.ts";
import { openLearnedEnv } from "./open.ts";

export async function openImagined(
  section: Readonly<Record<string, unknown>>,
  place: EnvPlace,
): Promise<OpenedEnv> {
  const env = await openLearnedEnv(section, {
    size: place.size,
    seedOffset: place.seedOffset + place.firstSlot / place.size,
    device: place.device,
    ...(place.dtype && { dtype: place.dtype }),
  });
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
  };
}
