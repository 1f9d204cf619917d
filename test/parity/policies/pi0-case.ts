/** A recorded case of π0 or π0.5: its files, the settings that its config.json amounts to, and the policy. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ForwardInputs, Observation } from "#data";
import { readSafetensors } from "#formats";
import type { Tensor } from "#tensor";
import { loadPi0, pi0Settings } from "../../../src/policies/pi0/index.ts";
import type { Pi0Policy } from "../../../src/policies/pi0/pi0-policy.ts";
import type { PromptTokenizer } from "../../../src/policies/prismatic/tokenizer.ts";
import type { Comparison } from "./comparison.ts";

type Named = ReadonlyMap<string, Tensor>;
type Json = Readonly<Record<string, unknown>>;

export interface Pi0Case {
  readonly folder: string;
  readonly config: Json;
  readonly inputs: Named;
  readonly outputs: Named;
  readonly observation: Observation;
}

const json = (folder: string, name: string): Json =>
  JSON.parse(readFileSync(join(folder, name), "utf8")) as Json;

/** Only π0's configurations name an action expert. */
export const isPi0Case = (folder: string): boolean =>
  existsSync(join(folder, "config.json")) && "action_expert_variant" in json(folder, "config.json");

export function readPi0Case(folder: string): Pi0Case {
  const inputs = readSafetensors(join(folder, "inputs.safetensors"));
  const mainImages = inputs.get("main_images")!;
  return {
    folder,
    config: json(folder, "config.json"),
    inputs,
    outputs: readSafetensors(join(folder, "outputs.safetensors")),
    observation: {
      mainImages,
      wristImages: inputs.get("wrist_images")?.unsqueeze(1),
      states: inputs.get("state_raw")!,
      taskDescriptions: Array.from({ length: mainImages.size(0) }, (_, i) => String(i)),
    },
  };
}

/** Keys of the recorded configuration that a run's `openpi` section has as well. */
const openpiKeys = [
  "config_name",
  "action_dim",
  "action_horizon",
  "max_token_len",
  "pi05",
  "discrete_state_input",
  "num_images_in_input",
  "noise_method",
  "noise_level",
  "noise_logvar_range",
  "joint_logprob",
  "ignore_last",
  "safe_get_logprob",
  "train_expert_only",
  "detach_critic_input",
  "chunk_critic_input",
  "value_after_vlm",
  "value_vlm_mode",
  "noise_anneal",
  "use_dsrl",
  "is_nft",
  "use_rlt",
] as const;

export function loadPi0Case(
  { folder, config, inputs }: Pi0Case,
  { device, dtype }: Pick<Comparison, "device" | "dtype">,
): Pi0Policy {
  const stated = openpiKeys.filter((key) => config[key] !== undefined && config[key] !== null);
  const section = {
    model_type: "openpi",
    model_path: folder,
    action_dim: config.action_env_dim,
    num_action_chunks: config.action_chunk,
    num_steps: config.num_steps,
    add_value_head: config.add_value_head,
    openpi: Object.fromEntries(stated.map((key) => [key, config[key]])),
  };
  return loadPi0(pi0Settings.parse(section), { device, dtype, tokenizer: recordedTokenizer(inputs) });
}

/** Answers row `i`'s recorded ids to the sentence "i": the reference's prompts are random ids. */
function recordedTokenizer(inputs: Named): PromptTokenizer {
  const [B = 0, L = 0] = inputs.get("tokenized_prompt")!.shape;
  const ids = inputs.get("tokenized_prompt")!.toArray().map(Number);
  const real = inputs.get("tokenized_prompt_mask")!.toArray().map(Number);
  const rows = Array.from({ length: B }, (_, b) =>
    ids.slice(b * L, (b + 1) * L).filter((_, i) => real[b * L + i] === 1),
  );
  return {
    beginId: rows[0]![0]!,
    endId: -1,
    spaceId: -1,
    // the line break behind the sentence is part of the recorded ids, so nothing is left of it but its begin token
    encode: (text) => (text === "\n" ? [-1] : (rows[Number(text)] ?? [])),
  };
}

/** The recorded chain as a sample to judge. */
export const recordedSample = (described: ForwardInputs, it: Pi0Case): ForwardInputs => ({
  ...described,
  chains: it.outputs.get("chains")!,
  denoise_inds: it.inputs.get("denoise_inds")!,
});
