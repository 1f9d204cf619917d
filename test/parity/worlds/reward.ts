/** Compares reward networks with recordings: those of a world's folder, and the full-size ones with procedural weights. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { readJsonFile } from "#formats";
import { loadReward, ResnetReward, ResnetScorer, TaskResnetReward, taskSentences } from "#rewards";
import { noGrad, scope, type Tensor } from "#tensor";
import { Cases, get, type ParityCase, type Recorded, recorded, tolerances } from "./case.ts";
import { proceduralState } from "./procedural.ts";

/** A world's own judge, from `.pth` and from `.safetensors`. */
export function compareReward(cases: Cases, folder: string, type: string): void {
  const io = recorded(join(folder, "reward.safetensors"));
  for (const name of ["resnet_rm.safetensors", "resnet_rm.pth"].filter((name) =>
    existsSync(join(folder, name)),
  )) {
    const rewardModel = loadReward({ type, from_pretrained: join(folder, name) }) as ResnetReward;
    compareProbability(cases, `reward ${name}`, rewardModel.judge(get(io, "obs")), io, ["prob", "rounded"]);
    noGrad(() => {
      cases.compare(
        `reward ${name} logits`,
        rewardModel.logits(get(io, "obs")),
        get(io, "logit"),
        tolerances.forward,
      );
    });
  }
}

export function compareTaskReward(cases: Cases, folder: string, instructions: readonly string[]): void {
  const io = recorded(join(folder, "reward.safetensors"));
  const from_pretrained = join(folder, "taskemb_resnet_rm.safetensors");
  const suite = Object.entries(taskSentences).find(([, sentences]) =>
    instructions.every((x) => sentences.includes(x)),
  );
  const settings = {
    type: "TaskEmbedResnetRewModel",
    from_pretrained,
    ...(suite && { task_suite_name: suite[0] }),
  };
  const ids = instructions.map((sentence) => suite?.[1].indexOf(sentence));
  cases.same("task reward task numbers", ids, get(io, "te_task_id").toArray().map(Number));
  const rewardModel = loadReward(settings);
  compareProbability(cases, "task reward", rewardModel.judge(get(io, "obs"), instructions), io, [
    "te_prob",
    "te_rounded",
  ]);
}

function compareProbability(
  cases: Cases,
  name: string,
  ours: Tensor,
  io: Recorded,
  [probability, rounded]: readonly [string, string],
): void {
  cases.compare(`${name} probability`, ours, get(io, probability).flatten(), tolerances.forward);
  cases.compare(`${name} verdict`, ours.round(), get(io, rounded).flatten(), tolerances.exact);
}

interface ProceduralModel {
  readonly keys: Record<string, [string, number[]]>;
  readonly instructions?: string[];
  readonly image_size?: [number, number, number];
}

/** Full-size networks whose weights follow from their names. */
export async function compareFullSizeRewards(folder: string, prefix: string): Promise<ParityCase[]> {
  const cases = new Cases(prefix);
  const { models } = readJsonFile(join(folder, "config.json")) as unknown as {
    models: Record<string, ProceduralModel>;
  };
  const io = recorded(join(folder, "full_size_outputs.safetensors"));
  for (const [name, model] of Object.entries(models)) {
    await cases.part(name, () => noGrad(() => scope(() => compareModel(cases, name, model, io))));
  }
  return cases.list;
}

function compareModel(cases: Cases, name: string, model: ProceduralModel, io: Recorded): void {
  const weights = proceduralState(model.keys);
  if (name === "ResnetRewModel") {
    const rewardModel = new ResnetReward();
    rewardModel.network.loadState(weights);
    cases.compare(
      `${name} features`,
      rewardModel.features(get(io, "obs")),
      get(io, "resnet_rm_feat"),
      tolerances.latents,
    );
    cases.compare(
      `${name} logits`,
      rewardModel.logits(get(io, "obs")),
      get(io, "resnet_rm_logit"),
      tolerances.latents,
    );
    compareProbability(cases, name, rewardModel.judge(get(io, "obs")), io, [
      "resnet_rm_prob",
      "resnet_rm_round",
    ]);
  } else if (name === "TaskEmbedResnetRewModel") {
    const rewardModel = new TaskResnetReward(taskSentences.libero_goal!);
    rewardModel.network.loadState(weights);
    const told = rewardModel.judge(get(io, "obs"), model.instructions ?? []);
    compareProbability(cases, name, told, io, ["taskemb_prob", "taskemb_round"]);
  } else {
    compareScorer(cases, name, model, io, weights);
  }
}

/** `rlinf_<arch>_<hidden>`. */
function compareScorer(
  cases: Cases,
  name: string,
  model: ProceduralModel,
  io: Recorded,
  weights: Map<string, Tensor>,
): void {
  const [, arch = "", hidden = ""] = name.split("_");
  const [, height, width] = model.image_size ?? [3, 224, 224];
  const rewardModel = new ResnetScorer({
    arch: arch as "resnet18",
    hidden: hidden === "None" ? null : Number(hidden),
    imageSize: [height, width],
    normalize: true,
  });
  rewardModel.network.loadState(weights);
  const pictures = get(io, "rlinf_images_u8");
  cases.compare(
    `${name} preprocessing`,
    rewardModel.preprocess(pictures),
    get(io, "rlinf_pre"),
    tolerances.forward,
  );
  cases.compare(`${name} logits`, rewardModel.logits(pictures), get(io, `${name}_logit`), tolerances.latents);
  cases.compare(
    `${name} probability`,
    rewardModel.score(pictures),
    get(io, `${name}_prob`),
    tolerances.forward,
  );
}
