/**
 * Low-rank adapters on a whole network: put in, taken out, read and written as PEFT does.
 *
 * Layers are chosen by the last part of their name. PEFT's files call a weight
 * `base_model.model.<layer>.lora_A.weight`; everything else about the network keeps its name.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { readJsonFile, readSafetensors, writeJsonFile, writeSafetensors } from "#formats";
import { Conv2d, Linear, LoraConv2d, LoraLinear, type Module } from "#nn";
import { UserError } from "#registry";
import type { Tensor, Generator as TensorGenerator } from "#tensor";

export interface AdapterOptions {
  readonly rank: number;
  readonly alpha: number;
  /** Names of layers: the last part of their path. */
  readonly targets: readonly string[];
  /** Leaves out layers whose path begins with one of these. */
  readonly except?: readonly string[];
}

type Adapter = LoraLinear | LoraConv2d;

/** Every linear layer of an OpenVLA model, the way the published adapters were made. */
export const openVlaTargets: readonly string[] = [
  "proj",
  "qkv",
  "fc1",
  "fc2",
  "q",
  "kv",
  "fc3",
  "out_proj",
  "q_proj",
  "k_proj",
  "v_proj",
  "o_proj",
  "gate_proj",
  "up_proj",
  "down_proj",
  "lm_head",
];

const adapterSchema = z.looseObject({
  peft_type: z.literal("LORA"),
  r: z.int().positive(),
  lora_alpha: z.number().positive(),
  target_modules: z.union([z.array(z.string()), z.literal("all-linear")]),
  bias: z.literal("none").default("none"),
  use_rslora: z.literal(false).default(false),
  use_dora: z.literal(false).default(false),
  fan_in_fan_out: z.literal(false).default(false),
});

/** Puts adapters in. Afterwards only they, and what `alsoTrain` names, want gradients. */
export function addAdapters(
  module: Module,
  options: AdapterOptions,
  alsoTrain: readonly string[] = [],
): void {
  const { rank, alpha, targets, except = [] } = options;
  const layers = [...module.modules()].filter(([path, layer]) => {
    const chosen = targets.includes(lastName(path)) && (layer instanceof Linear || layer instanceof Conv2d);
    return (
      chosen &&
      !except.some((prefix) => path.startsWith(prefix)) &&
      !alsoTrain.some((prefix) => path.startsWith(prefix))
    );
  });
  if (layers.length === 0) throw new UserError(`no layer is called ${targets.join(", ")}: nothing to adapt`);
  module.requiresGrad_(false);
  for (const [path, layer] of layers) {
    replace(
      module,
      path,
      layer instanceof Linear
        ? new LoraLinear(layer, { rank, alpha })
        : new LoraConv2d(layer as Conv2d, { rank, alpha }),
    );
  }
  module.requiresGrad_(
    true,
    (name) => isAdapterWeight(name) || alsoTrain.some((prefix) => name.startsWith(prefix)),
  );
}

const lastName = (path: string): string => path.slice(path.lastIndexOf(".") + 1);
const isAdapterWeight = (name: string): boolean => /\.lora_[AB]\.weight$/.test(name);

export function* adaptersOf(module: Module): Generator<[string, Adapter]> {
  for (const [path, layer] of module.modules()) {
    if (layer instanceof LoraLinear || layer instanceof LoraConv2d) yield [path, layer];
  }
}

/** A as normal noise, B zero: the network begins unchanged. */
export function initializeAdapters(module: Module, generator: TensorGenerator): void {
  for (const [, adapter] of adaptersOf(module)) adapter.initialize(generator);
}

/** Adds every adapter to its layer's weight; the network is plain again, under its published names. */
export function mergeAdapters(module: Module): void {
  for (const [path, adapter] of [...adaptersOf(module)]) replace(module, path, adapter.merge());
}

/** Puts a layer at its path of fields and indices. */
function replace(module: Module, path: string, layer: Module): void {
  const fields = path.split(".");
  const last = fields.pop()!;
  let owner: unknown = module;
  for (const field of fields) owner = (owner as Record<string, unknown>)[field];
  (owner as Record<string, unknown>)[last] = layer;
}

const filePrefix = "base_model.model.";

/** Reads a PEFT folder into `module`, which must be plain: puts adapters in and fills them. `except` as in AdapterOptions. */
export function loadAdapters(
  module: Module,
  folder: string,
  alsoTrain: readonly string[] = [],
  except: readonly string[] = [],
): void {
  const path = join(folder, "adapter_config.json");
  const parsed = adapterSchema.safeParse(readJsonFile(path));
  if (!parsed.success)
    throw new UserError(`${path} is not an adapter we can use:\n${z.prettifyError(parsed.error)}`);
  const { r, lora_alpha: alpha, target_modules } = parsed.data;
  const targets = target_modules === "all-linear" ? openVlaTargets : target_modules;
  addAdapters(module, { rank: r, alpha, targets, except }, alsoTrain);
  const file = join(folder, "adapter_model.safetensors");
  const found = new Map([...readSafetensors(file)].map(([name, value]) => [ourName(name), value]));
  fillAdapters(module, found, file);
}

/** PEFT writes `.lora_A.weight`; its modules at run time, and some exporters, say `.lora_A.default.weight`. */
const ourName = (name: string): string =>
  name.replace(filePrefix, "").replace(/\.(lora_[AB])\.default\.weight$/, ".$1.weight");

function fillAdapters(module: Module, found: ReadonlyMap<string, Tensor>, source: string): void {
  const wanted = adapterWeights(module);
  const missing = [...wanted.keys()].filter((name) => !found.has(name));
  const extra = [...found.keys()].filter((name) => !wanted.has(name));
  if (missing.length > 0 || extra.length > 0) {
    throw new UserError(
      `${source} does not fit this model: ${missing.length} adapter weights are missing (${missing.slice(0, 4).join(", ")}), ` +
        `${extra.length} are not expected (${extra.slice(0, 4).join(", ")})`,
    );
  }
  module.loadState(found, { strict: false, source });
}

function adapterWeights(module: Module): Map<string, Tensor> {
  return new Map([...module.namedParameters()].filter(([name]) => isAdapterWeight(name)));
}

/** Writes adapter_config.json and adapter_model.safetensors, as PEFT reads them. */
export function saveAdapters(module: Module, folder: string, basePath: string): void {
  const adapters = [...adaptersOf(module)];
  const rank = adapters[0]?.[1].lora_A.weight.size(0) ?? 0;
  const scale = adapters[0]?.[1].scale ?? 1;
  const weights = [...adapterWeights(module)].map(
    ([name, value]) => [`${filePrefix}${name}`, value] as const,
  );
  mkdirSync(folder, { recursive: true });
  writeSafetensors(join(folder, "adapter_model.safetensors"), new Map(weights), { format: "pt" });
  writeJsonFile(join(folder, "adapter_config.json"), {
    peft_type: "LORA",
    base_model_name_or_path: basePath,
    r: rank,
    lora_alpha: scale * rank,
    lora_dropout: 0,
    target_modules: [...new Set(adapters.map(([path]) => lastName(path)))],
    bias: "none",
    fan_in_fan_out: false,
    init_lora_weights: "gaussian",
    task_type: null,
    inference_mode: true,
    use_rslora: false,
    use_dora: false,
  });
}
