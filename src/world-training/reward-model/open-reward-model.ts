/** Opens the reward model that training left in a world's folder, whichever kind it is. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { readJsonFile } from "#formats";
import { UserError } from "#registry";
import { loadReward, type RewardModel } from "#rewards";
import type { Device } from "#tensor";

export function openRewardModel(folder: string, device: Device): RewardModel {
  const names = ["taskemb_resnet_rm", "resnet_rm"];
  const name = names.find((each) => existsSync(join(folder, `${each}.pth`)));
  if (!name)
    throw new UserError(
      `${folder} has no reward model (taskemb_resnet_rm.pth or resnet_rm.pth): run reverie world train-reward`,
    );
  const beside = join(folder, `${name}.json`);
  const fallback = name === "resnet_rm" ? "ResnetRM" : "TaskEmbedResnetRewModel";
  const type = existsSync(beside) ? String(readJsonFile(beside).type ?? fallback) : fallback;
  return loadReward({ type, from_pretrained: join(folder, `${name}.pth`) }, { device });
}
