/**
 * Filling a fresh network: the checkpoint's weights, a new critic where it has none, adapters, and what is frozen.
 *
 * The network must be plain when the checkpoint is read, so adapters come last.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { readSafetensors } from "#formats";
import type { Module } from "#nn";
import type { Generator, Tensor } from "#tensor";
import {
  type AdapterOptions,
  addAdapters,
  initializeAdapters,
  loadAdapters,
  openVlaTargets,
} from "../lora.ts";
import type { PrismaticFolder } from "./checkpoint.ts";
import type { PrismaticSettings } from "./settings.ts";
import type { ValueHead } from "./value-head.ts";
import { loadWeights } from "./weights.ts";

type PrismaticModule = Module & { readonly value_head: ValueHead | undefined };

/** A critic trained beside adapters is not part of PEFT's files; we keep it in one of its own. */
export const valueHeadFile = "value_head.safetensors";

export function fillModule(
  module: PrismaticModule,
  folder: PrismaticFolder,
  settings: PrismaticSettings,
  generator: Generator,
  components: ReadonlyMap<string, Tensor> = new Map(),
): void {
  const weights = new Map([...folder.weights(), ...components]);
  const fresh = loadWeights(module, weights, ["value_head."], folder.path);
  if (fresh.length > 0) module.value_head?.initialize(generator);
  if (settings.is_lora) adapt(module, settings, generator);
  if (settings.freeze_vision) module.requiresGrad_(false, (name) => name.startsWith("vision_backbone."));
}

export const adapterOptions = (settings: PrismaticSettings): AdapterOptions => ({
  rank: settings.lora_rank,
  alpha: settings.lora_alpha ?? settings.lora_rank,
  targets: openVlaTargets,
  ...(settings.freeze_vision && { except: ["vision_backbone."] }),
});

function adapt(module: PrismaticModule, settings: PrismaticSettings, generator: Generator): void {
  const trained = ["value_head.", "value_head"];
  if (!settings.lora_path) {
    addAdapters(module, adapterOptions(settings), trained);
    initializeAdapters(module, generator);
    return;
  }
  loadAdapters(module, settings.lora_path, trained, adapterOptions(settings).except);
  const critic = join(settings.lora_path, valueHeadFile);
  if (module.value_head && existsSync(critic)) {
    module.value_head.loadState(readSafetensors(critic), { prefix: "value_head.", source: critic });
  }
}
