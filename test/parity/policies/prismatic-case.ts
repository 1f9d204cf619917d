/** One recorded case of an OpenVLA or OpenVLA-OFT model: its files, and the policy loaded as the files say. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Observation } from "#data";
import { readSafetensors } from "#formats";
import { type Tensor, zeros } from "#tensor";
import { loadOpenVla, openVlaSettings } from "../../../src/policies/openvla/index.ts";
import type { OpenVlaPolicy } from "../../../src/policies/openvla/openvla-policy.ts";
import { loadOft, oftSettings } from "../../../src/policies/openvla-oft/index.ts";
import type { OpenVlaOftPolicy } from "../../../src/policies/openvla-oft/oft-policy.ts";
import { promptFor } from "../../../src/policies/prismatic/prompts.ts";
import type { PromptTokenizer } from "../../../src/policies/prismatic/tokenizer.ts";
import type { Comparison } from "./comparison.ts";

type Named = ReadonlyMap<string, Tensor>;
type Json = Readonly<Record<string, unknown>>;

export interface PrismaticCase {
  readonly family: "openvla" | "openvla_oft";
  readonly variant: "rlinf" | "official";
  readonly folder: string;
  /** Where the base weights are: the folder itself, or another one for an adapter. */
  readonly base: string;
  readonly isLora: boolean;
  readonly settings: Json;
  readonly inputs: Named;
  /** An adapter's case leaves out what equals its base's. */
  readonly outputs: Named;
  readonly prompt: { readonly ids: Tensor; readonly mask: Tensor };
  readonly observation: Observation;
  readonly temperature: number;
  readonly topK: number;
}

const json = (...path: string[]): Json => JSON.parse(readFileSync(join(...path), "utf8")) as Json;

export function readCase(folder: string): PrismaticCase {
  const own = json(folder, "inputs.json");
  const isLora = String(own.variant).includes("lora");
  const base = isLora ? baseOf(folder, String(own.base)) : folder;
  const stated = isLora ? { ...json(base, "inputs.json"), ...own } : own;
  const config = json(base, "config.json");
  const inputs = readSafetensors(join(folder, "inputs.safetensors"));
  const outputs = readSafetensors(join(folder, "outputs.safetensors"));
  const baseOutputs = isLora ? readSafetensors(join(base, "outputs.safetensors")) : outputs;
  const family = String(own.variant).startsWith("openvla") ? "openvla" : "openvla_oft";
  return {
    family,
    variant: String(own.variant).startsWith("official") ? "official" : "rlinf",
    folder,
    base,
    isLora,
    inputs,
    outputs,
    settings: settingsOf(stated, config, family, outputs.has("values") || outputs.has("prev_values")),
    prompt: { ids: baseOutputs.get("input_ids")!, mask: baseOutputs.get("attention_mask")!.bool() },
    observation: observationOf(inputs, stated.task_descriptions as string[]),
    temperature: Number(stated.temperature ?? 1),
    topK: Number(stated.top_k ?? 0),
  };
}

function baseOf(folder: string, sentence: string): string {
  const path = /(\.\.\/[\w./-]+?)\/weights\.safetensors/.exec(sentence)?.[1];
  if (path === undefined) throw new Error(`${folder}: inputs.json does not say where the base weights are`);
  return join(folder, path);
}

function settingsOf(stated: Json, config: Json, family: string, critic: boolean): Json {
  const either = (key: string): unknown => stated[key] ?? config[key];
  const wanted = {
    action_dim: either("action_dim"),
    num_action_chunks: either("num_action_chunks"),
    unnorm_key: either("unnorm_key"),
    max_prompt_length: either("max_prompt_length"),
    num_images_in_input: either("num_images_in_input"),
    value_type: either("value_type"),
    use_proprio: either("use_proprio"),
    proprio_dim: either("proprio_dim"),
  };
  const known = Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== undefined));
  return { model_type: family, add_value_head: critic, precision: "fp32", ...known };
}

function observationOf(inputs: Named, taskDescriptions: string[]): Observation {
  const mainImages = inputs.get("main_images")!;
  return {
    mainImages,
    wristImages: inputs.get("wrist_images"),
    states: inputs.get("states") ?? zeros([mainImages.size(0), 1]),
    taskDescriptions,
  };
}

/** Answers with the reference's own ids: the given cases bring no tokenizer file. */
export function recordedTokenizer({ prompt, observation }: PrismaticCase): PromptTokenizer {
  const rows = realIds(prompt);
  const known = new Map(observation.taskDescriptions.map((task, i) => [promptFor(task), rows[i]!]));
  return {
    beginId: rows[0]![0]!,
    endId: -1, // never asked: the network's end token comes from its config
    spaceId: rows[0]!.at(-1)!,
    encode: (text) => known.get(text) ?? [],
  };
}

/** Each row's ids without padding: begin token first, prompt behind it, wherever they stood. */
function realIds({ ids, mask }: PrismaticCase["prompt"]): number[][] {
  const [B = 0, L = 0] = ids.shape;
  const flat = ids.toArray();
  const real = mask.toArray();
  return Array.from({ length: B }, (_, b) =>
    flat.slice(b * L, (b + 1) * L).filter((_, i) => real[b * L + i]),
  );
}

export type PrismaticPolicy = OpenVlaOftPolicy | OpenVlaPolicy;

export function loadCase(
  it: PrismaticCase,
  { device, dtype }: Comparison,
  changes: Json = {},
): PrismaticPolicy {
  const lora = it.isLora ? { is_lora: true, lora_path: it.folder } : {};
  const section = { ...it.settings, model_path: it.base, trim_padding: false, ...lora, ...changes };
  const options = { device, dtype, tokenizer: recordedTokenizer(it) };
  return it.family === "openvla"
    ? loadOpenVla(openVlaSettings.parse(section), options)
    : loadOft(oftSettings.parse({ ...section, implement_version: it.variant }), options);
}
