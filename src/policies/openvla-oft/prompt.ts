/** How the two variants of OpenVLA-OFT place a prompt, and which resizer made the pictures they were trained on. */
import type { Resizer } from "../prismatic/images.ts";
import type { BeginPlacement } from "../prismatic/prompts.ts";
import type { Variant } from "./model.ts";

interface Habits {
  readonly begin: BeginPlacement;
  readonly resizer: Resizer;
  /** Whether padding may be cut: the official critic reads a position that padding shifts. */
  readonly trims: boolean;
}

export const habits: Record<Variant, Habits> = {
  rlinf: { begin: "column_0", resizer: "torch", trims: true },
  official: { begin: "before_prompt", resizer: "pillow", trims: false },
};
