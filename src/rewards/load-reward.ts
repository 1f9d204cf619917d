/**
 * Reads a reward model from its file: `.pth` through the restricted unpickler, or `.safetensors`.
 *
 * The kind is named as in the configs; sizes are read from the weights, so that small judges need no config file.
 */
import { existsSync } from "node:fs";
import { z } from "zod";
import { readJsonFile, readSafetensors, readTorchState } from "#formats";
import type { ModuleOptions } from "#nn";
import { Catalog, ownEntry, UserError } from "#registry";
import type { Tensor } from "#tensor";
import { taskSentences } from "./libero-tasks.ts";
import { ResnetReward } from "./resnet-reward.ts";
import { defaultResnetScorer, ResnetScorer, type ResnetScorerSettings } from "./resnet-scorer.ts";
import { type TrunkWidths, widthsOf } from "./resnet-trunk.ts";
import type { RewardModel } from "./reward-model.ts";
import { TaskResnetReward } from "./task-resnet-reward.ts";

export interface RewardSettings {
  /** As in the configs: ResnetRM, ResnetRewModel, RewModel, TaskEmbedResnetRewModel, ResNetRewardModel. */
  readonly type: string;
  readonly from_pretrained: string;
  /** For judges that know tasks: the suite, or the sentences themselves in the order of training. */
  readonly task_suite_name?: string;
  readonly instructions?: readonly string[];
  readonly scorer?: ResnetScorerSettings;
}

/** One kind of reward model: how it is made from `reward_model` of a configuration. */
export interface RewardFamily {
  load(settings: RewardSettings, options: ModuleOptions): RewardModel;
}

export const defineReward = (family: RewardFamily): RewardFamily => family;

type Weights = Map<string, Tensor>;
type Loader = (weights: Weights, settings: RewardSettings, options: ModuleOptions) => RewardModel;

const fromWeights = (load: Loader): RewardFamily => ({
  load(settings, options) {
    const { from_pretrained: path } = settings;
    const weights = path.endsWith(".safetensors") ? readSafetensors(path) : readTorchState(path);
    return load(weights, settings, options);
  },
});

const resnet: Loader = (weights, { from_pretrained: source }, options) => {
  const model = new ResnetReward(requireWidths(weights, "net", source), options);
  model.network.loadState(weights, { source });
  return model;
};

const taskResnet: Loader = (weights, settings, options) => {
  const { from_pretrained: source } = settings;
  const shape = (key: string): readonly number[] => weights.get(key)?.shape ?? [0, 0];
  const [tasks = 0, embedding = 0] = shape("task_embedding.weight");
  const [hidden = 0] = shape("fusion_layer.0.weight");
  const widths = requireWidths(weights, "visual_encoder", source);
  const model = new TaskResnetReward(sentencesOf(settings), { widths, tasks, embedding, hidden }, options);
  model.network.loadState(weights, { source });
  return model;
};

/** Trainers wrap modules; each prefix is cut once, in this order. Normalization constants are ours already. */
const scorer: Loader = (
  weights,
  { from_pretrained: source, scorer: settings = defaultResnetScorer },
  options,
) => {
  const bare = new Map<string, Tensor>();
  for (const [key, value] of weights) {
    const name = ["module.", "_orig_mod.", "model."].reduce(
      (rest, prefix) => (rest.startsWith(prefix) ? rest.slice(prefix.length) : rest),
      key,
    );
    if (name !== "mean" && name !== "std") bare.set(name, value);
  }
  const model = new ResnetScorer(settings, options);
  model.network.loadState(bare, { source });
  return model;
};

const besideSchema = z.looseObject({ instructions: z.array(z.string()) });

export const rewards = new Catalog<RewardFamily>("reward model", {
  ResnetRM: fromWeights(resnet),
  ResnetRewModel: fromWeights(resnet),
  RewModel: fromWeights(resnet),
  TaskEmbedResnetRewModel: fromWeights(taskResnet),
  ResNetRewardModel: fromWeights(scorer),
});

export const loadReward = (settings: RewardSettings, options: ModuleOptions = {}): RewardModel =>
  rewards.find(settings.type).load(settings, options);

function requireWidths(weights: Weights, prefix: string, source: string): TrunkWidths {
  const widths = widthsOf(weights, prefix);
  if (widths.every((width) => width > 0)) return widths;
  throw new UserError(`${source} has no ${prefix}.1 to ${prefix}.4: it is not a reward network of this type`);
}

/** Given, or written beside the weights by our own training, or those of a published suite. */
function sentencesOf(settings: RewardSettings): readonly string[] {
  const { instructions, task_suite_name: suite, from_pretrained: path } = settings;
  if (instructions) return instructions;
  const beside = path.replace(/\.\w+$/, ".json");
  if (existsSync(beside)) return sentencesIn(beside);
  const known = ownEntry(taskSentences, suite ?? "");
  if (known) return known;
  throw new UserError(
    `a task-aware reward model needs its tasks: no sentences for suite "${suite ?? "(none)"}"; ` +
      `there are: ${Object.keys(taskSentences).join(", ")}; or give reward_model.instructions`,
  );
}

function sentencesIn(path: string): readonly string[] {
  const parsed = besideSchema.safeParse(readJsonFile(path));
  if (parsed.success) return parsed.data.instructions;
  throw new UserError(`${path} does not name the tasks of a reward model:\n${z.prettifyError(parsed.error)}`);
}
