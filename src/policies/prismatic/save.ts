/**
 * A trained network back on disk, in the layout it came from.
 *
 * Plain networks become a whole checkpoint folder. With adapters only they are written, as PEFT does it, with the
 * critic in a file beside them; `mergeAdapters` first gives a whole checkpoint.
 */
import { join } from "node:path";
import { writeSafetensors } from "#formats";
import type { Module } from "#nn";
import { adaptersOf, saveAdapters } from "../lora.ts";
import { type PrismaticFolder, writePrismaticFolder } from "./checkpoint.ts";
import { valueHeadFile } from "./fill.ts";
import type { PrismaticSettings } from "./settings.ts";

export function savePrismatic(
  module: Module,
  folder: string,
  from: PrismaticFolder,
  settings: PrismaticSettings,
): void {
  const weights = module.state();
  if (adaptersOf(module).next().done) {
    writePrismaticFolder(folder, from, weights, { unnorm_key: settings.unnorm_key ?? undefined });
    return;
  }
  saveAdapters(module, folder, from.path);
  const critic = new Map([...weights].filter(([name]) => name.startsWith("value_head.")));
  if (critic.size > 0) writeSafetensors(join(folder, valueHeadFile), critic, { format: "pt" });
}
