/**
 * Low-rank adapters on the vision-language model; the expert, projections and heads train as they are.
 *
 * That is where RLinf puts them. A saved checkpoint has them added to its weights, so it is whole and plain: the
 * expert is trained beside them, and adapters alone would not be the policy.
 */
import type { LoraConv2d, LoraLinear } from "#nn";
import type { Generator, Tensor } from "#tensor";
import { adaptersOf, addAdapters, initializeAdapters, openVlaTargets } from "../lora.ts";
import type { Pi0Model } from "./model.ts";

/** Paths of what is trained itself. */
const trainedPlainly = [
  "paligemma_with_expert.gemma_expert.model.",
  "action_",
  "state_proj.",
  "time_mlp_",
  "value_head.",
  "noise_head.mlp_logvar.",
];

export function adaptVlm(module: Pi0Model, rank: number, alpha: number, generator: Generator): void {
  addAdapters(module, { rank, alpha, targets: openVlaTargets, except: trainedPlainly }, trainedPlainly);
  initializeAdapters(module, generator);
}

/** Every weight under its published name, adapters added in: new tensors where there are any. */
export function plainState(module: Pi0Model): Map<string, Tensor> {
  const adapters = new Map<string, LoraLinear | LoraConv2d>(adaptersOf(module));
  const state = new Map<string, Tensor>();
  for (const [name, weight] of module.state()) {
    if (/\.lora_[AB]\.weight$/.test(name)) continue;
    const path = name.replace(/\.base_layer\.(weight|bias)$/, "");
    const adapter = name.endsWith(".base_layer.weight") ? adapters.get(path) : undefined;
    state.set(name.replace(".base_layer.", "."), adapter ? weight.add(adapter.delta()) : weight);
  }
  return state;
}
