/** How OpenVLA places a prompt, and which resizer made the pictures it was trained on: as OpenVLA-OFT's rlinf variant. */
import type { Resizer } from "../prismatic/images.ts";
import type { BeginPlacement } from "../prismatic/prompts.ts";

export const habits: { readonly begin: BeginPlacement; readonly resizer: Resizer } = {
  begin: "column_0",
  resizer: "torch",
};
