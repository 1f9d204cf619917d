/** Which experts there are, by asset pack. */
import { ownEntry, UserError } from "#registry";
import type { ExpertKit } from "./kit.ts";
import { liberoKit } from "./libero-kit.ts";
import { tabletopKit } from "./tabletop-kit.ts";

const kits: Readonly<Record<string, ExpertKit>> = { tabletop: tabletopKit, libero: liberoKit };

export function expertKit(pack: string): ExpertKit {
  const kit = ownEntry(kits, pack);
  if (kit) return kit;
  throw new UserError(
    `there is no scripted expert for the ${pack} pack; there are: ${Object.keys(kits).join(", ")}`,
  );
}
