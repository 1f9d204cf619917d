/**
 * Names in π0's files to ours, and back; what may be missing from a file, and what is trained.
 *
 * The word embeddings and the language model's output layer are one matrix. Files keep it as `lm_head` and note the
 * other name, which is what safetensors does with shared memory; some exporters write both, or only the other.
 */
import { ownEntry, UserError } from "#registry";
import { type DType, type Generator, noGrad, scope, type Tensor } from "#tensor";
import { plainState } from "./adapters.ts";
import type { Pi0Model } from "./model.ts";

const inVlm = "paligemma_with_expert.paligemma.";
const unusedHead = "paligemma_with_expert.gemma_expert.lm_head.";

/** The same matrix under another name. */
export const tied: Readonly<Record<string, string>> = {
  [`${inVlm}model.language_model.embed_tokens.weight`]: `${inVlm}lm_head.weight`,
};

/** transformers before 4.52 had the parts of PaliGemma in other places. */
const moved: readonly (readonly [from: string, to: string])[] = [
  ["language_model.model.", "model.language_model."],
  ["language_model.lm_head.", "lm_head."],
  ["vision_tower.", "model.vision_tower."],
  ["multi_modal_projector.", "model.multi_modal_projector."],
];

/** LeRobot puts `model.` in front of everything, data-parallel training `module.`. */
export function ourName(name: string): string {
  const bare = name.replace(/^(module\.)?(model\.(?=paligemma_with_expert|action_|state_|time_))?/, "");
  const part = moved.find(([from]) => bare.startsWith(inVlm + from));
  const placed = part ? inVlm + part[1] + bare.slice(inVlm.length + part[0].length) : bare;
  return ownEntry(tied, placed) ?? placed;
}

/** LeRobot's statistics, which openpi keeps in a file of their own. */
const isStatistics = (name: string): boolean => /^(un)?normalize_\w+\./.test(name);

/** Heads that reinforcement learning added: a file may lack them, or have some that this run does not want. */
const isHead = (name: string): boolean => /^(value_head|noise_head)\./.test(name);

/** The range of flow-noise is a setting, not a weight; files hold it too, sometimes rounded to 16 bits. */
const isRange = (name: string): boolean => name.startsWith("noise_head.logvar_");

export interface FreshHeads {
  readonly noiseRange: readonly [number, number];
  readonly generator: Generator;
}

export function fillPi0(
  module: Pi0Model,
  weights: ReadonlyMap<string, Tensor>,
  source: string,
  fresh: FreshHeads,
): void {
  const wanted = module.namedParameters();
  const found = new Map([...weights].map(([name, value]) => [ourName(name), value]));
  if (![...found.keys()].some((name) => wanted.has(name)))
    throw new UserError(`${source} holds none of π0's weights; its first is "${[...weights.keys()][0]}"`);
  const isMissing = (name: string): boolean => wanted.has(name) && !found.has(name);
  const excused = [...wanted.keys()].filter(
    (name) => isRange(name) || (isMissing(name) && (isHead(name) || name.startsWith(unusedHead))),
  );
  initialize(module, excused, fresh);
  module.noise_head?.setRange(fresh.noiseRange);
  const given = [...found].filter(
    ([name]) => !isRange(name) && (wanted.has(name) || !(isHead(name) || isStatistics(name))),
  );
  module.loadState(new Map([...given, ...excused.map((name) => [name, wanted.get(name)!] as const)]), {
    source,
  });
}

function initialize(module: Pi0Model, missing: readonly string[], { generator }: FreshHeads): void {
  const lacks = (prefix: string): boolean => missing.some((name) => name.startsWith(prefix));
  if (lacks("value_head.")) module.value_head?.initialize(generator);
  if (lacks("noise_head.mlp_logvar.")) module.noise_head?.initialize(generator);
  if (lacks(unusedHead)) noGrad(() => module.paligemma_with_expert.gemma_expert.lm_head.weight.zero_());
}

/** Nobody reads the expert's output layer; `expertOnly` leaves the whole vision-language model as it is. */
export function freeze(module: Pi0Model, expertOnly: boolean): void {
  const isFrozen = (name: string): boolean =>
    name.startsWith(unusedHead) || isRange(name) || (expertOnly && name.startsWith(inVlm));
  module.requiresGrad_(false, isFrozen);
}

/** What a file holds, in `dtype` if one is given, and the note about the matrix with two names. */
export function storedWeights(
  module: Pi0Model,
  dtype: DType | undefined,
): { weights: Map<string, Tensor>; metadata: Record<string, string> } {
  const stored = (weight: Tensor): Tensor => (dtype ? weight.to({ dtype }) : weight);
  const weights = noGrad(() =>
    scope(() => new Map([...plainState(module)].map(([name, weight]) => [name, stored(weight)]))),
  );
  return { weights, metadata: { format: "pt", ...tied } };
}
