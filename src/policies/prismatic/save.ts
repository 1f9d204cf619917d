/**
 * A trained network back on disk, in the layout it came from.
 *
 * Plain networks become a whole checkpoint folder. With adapters only they are written, as PEFT does it, with the
 * critic in a file beside them; `mergeAdapters` first gives a whole checkpoint.
 */
import { join } from "node:path";
import { writeSafetensors } from "#formats";
import type { Module } from "#nn";
import { type DType, noGrad, scope, type Tensor } from "#tensor";
import { adaptersOf, saveAdapters } from "../lora.ts";
import { type PrismaticFolder, writePrismaticFolder } from "./checkpoint.ts";
import { valueHeadFile } from "./fill.ts";
import type { PrismaticSettings } from "./settings.ts";

export interface PrismaticSave {
  readonly settings: PrismaticSettings;
  /** The weights' type on disk; as in memory unless said otherwise. */
  readonly dtype?: DType | undefined;
}

export function savePrismatic(
  module: Module,
  folder: string,
  from: PrismaticFolder,
  { settings, dtype }: PrismaticSave,
): void {
  noGrad(() =>
    scope(() => {
      const stored = (weight: Tensor): Tensor => (dtype ? weight.to({ dtype }) : weight);
      const weights = new Map([...module.state()].map(([name, weight]) => [name, stored(weight)]));
      if (adaptersOf(module).next().done) {
        writePrismaticFolder(folder, from, weights, {
          unnorm_key: settings.unnorm_key ?? from.config.raw.unnorm_key,
        });
        return;
      }
      saveAdapters(module, folder, from.path);
      const critic = new Map([...weights].filter(([name]) => name.startsWith("value_head.")));
      if (critic.size > 0) writeSafetensors(join(folder, valueHeadFile), critic, { format: "pt" });
    }),
  );
}
