/**
 * Plays a recorded rollout through the real `LearnedEnv`: same starts, same actions, same noise.
 *
 * The recording was made by the reference, which goes on imagining finished episodes, counts 8 actions a chunk and
 * cuts episodes off in the chunk where its truncation flags first appear.
 */

import { LearnedEnv, learnedEnvSettings, type Starts } from "#envs";
import type { RewardModel } from "#rewards";
import { keep, type Tensor } from "#tensor";
import { toBytes, type World } from "#worlds";
import { type Cases, get, type Recorded, tolerances } from "./case.ts";
import type { RecordedNoise } from "./recorded-noise.ts";

export interface RolloutParts {
  readonly world: World;
  readonly rewardModel: RewardModel;
  readonly starts: Starts;
  readonly noise: RecordedNoise;
  readonly ids: readonly number[];
}

export interface ChunkRecord {
  readonly steps: readonly Tensor[]; // latents after each denoising step
  readonly latents: Tensor;
  readonly frames: Tensor; // [N, C, 3, H, W]
}

export const chunkCount = (recording: Recorded): number =>
  [...recording.keys()].filter((key) => /^c\d+_policy_action$/.test(key)).length;

/** `check` compares what is special to a family: latents, frames, conditions. */
export async function playRollout(
  cases: Cases,
  recording: Recorded,
  parts: RolloutParts,
  check: (chunk: number, seen: ChunkRecord) => void,
): Promise<void> {
  const { world, rewardModel, starts, noise, ids } = parts;
  const chunks = chunkCount(recording);
  const first = Array.from({ length: chunks }, (_, c) => c).find((c) =>
    get(recording, `c${c}_trunc`).any().item(),
  );
  let steps: Tensor[] = [];
  let seen: Omit<ChunkRecord, "steps"> | undefined;
  let opinions: Tensor | undefined;
  const settings = learnedEnvSettings.parse({
    max_episode_steps: world.chunk * ((first ?? chunks) + 1),
    reward_coef: 5,
    imagine_finished: true,
    reference_quirks: true, // its rewards fall back when a verdict flickers
  });
  const env = new LearnedEnv(ids.length, settings, {
    world,
    rewardModel,
    starts,
    noise,
    watcher: {
      step: (_, latents) => steps.push(keep(latents.clone())),
      chunk: (chunk) => {
        seen = { latents: keep(chunk.latents.clone()), frames: keep(chunk.frames.clone()) };
        opinions = keep(chunk.opinions.clone());
      },
    },
  });
  const observation = await env.reset({ ids });
  cases.compare("rollout first picture", observation.mainImages, get(recording, "obs0"), tolerances.gray);
  for (let c = 0; c < chunks; c++) {
    steps = [];
    const step = await env.step(get(recording, `c${c}_policy_action`));
    check(c, { steps, ...seen! });
    const chunk = (name: string): string => `rollout chunk ${c} ${name}`;
    const theirs = (name: string): Tensor => get(recording, `c${c}_${name}`);
    cases.compare(chunk("pictures"), step.observation.mainImages, theirs("main_images"), tolerances.gray);
    cases.compare(chunk("success probabilities"), opinions!, theirs("reward_prob"), tolerances.latents);
    cases.compare(chunk("rewards"), step.rewards, theirs("rewards"), tolerances.exact);
    cases.compare(chunk("terminations"), step.terminated, theirs("term"), tolerances.exact);
    cases.compare(chunk("truncations"), step.truncated, theirs("trunc"), tolerances.exact);
    if (recording.has(`c${c}_return`)) {
      cases.same(chunk("returns"), [...step.episode.return!], theirs("return").toArray());
    }
    if (recording.has(`c${c}_success_once`)) {
      cases.same(
        chunk("success_once"),
        [...step.episode.success_once!],
        theirs("success_once").toArray().map(Number),
      );
    }
  }
  await env.close();
}

/** Frames as the bytes a policy would see. */
export const gray = (frames: Tensor): Tensor => toBytes(frames);
