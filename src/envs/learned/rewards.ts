/**
 * From a reward model's opinion of every frame to rewards and success.
 *
 * An episode's score is 1 from the frame that meets the success criterion on (`success.ts`), else 0. With `use_rel_reward` a frame earns
 * the change of coefficient · score: the coefficient at the frame that makes the success, and nothing before or after. So the return is
 * the coefficient if and only if the episode succeeded. Without it the score itself is the reward, and the coefficient is not applied,
 * as in the reference.
 *
 * Where terminations are ignored the episode goes on and success can be lost again: the score is whether the criterion holds now, as in
 * the simulators, and the return is the coefficient if and only if it holds at the end. Without `round_rewards` the score of a frame
 * short of success is the reward model's opinion: a graded reward.
 *
 * Where we depart from the reference: it pays the change of each frame's verdict, so that an episode whose last verdict flickers back
 * ends as a success with return 0. `reference_quirks` brings that back.
 */
import { heldFrames, type SuccessSettings, successCriterion } from "./success.ts";

export interface RewardSettings extends SuccessSettings {
  readonly reward_coef: number;
  readonly use_rel_reward: boolean;
  readonly ignore_terminations: boolean;
  readonly reference_quirks: boolean;
}

/** What is carried from one chunk of an episode to the next. */
export interface RewardMemory {
  readonly previous: number; // coefficient · score of the last frame
  readonly held: number; // frames in a row, up to now, that convinced the reward model
  readonly met: boolean; // the episode has succeeded
}

export const freshRewardMemory: RewardMemory = { previous: 0, held: 0, met: false };

export interface JudgedChunk {
  readonly rewards: readonly number[];
  /** Whether the criterion holds at each frame. */
  readonly holds: readonly boolean[];
  readonly memory: RewardMemory;
}

export function rewardChunk(
  opinions: ArrayLike<number>,
  memory: RewardMemory,
  settings: RewardSettings,
): JudgedChunk {
  const criterion = successCriterion(settings);
  const held = heldFrames(opinions, criterion, memory.held);
  const holds = held.map((frames) => frames >= criterion.holdFrames);
  let { previous, met } = memory;
  const rewards = holds.map((now, i) => {
    met ||= now;
    const succeeded = settings.reference_quirks ? held[i]! > 0 : settings.ignore_terminations ? now : met;
    const score = scoreOf(opinions[i]!, succeeded, settings);
    const reward = settings.use_rel_reward ? settings.reward_coef * score - previous : score;
    previous = settings.reward_coef * score;
    return reward;
  });
  return { rewards, holds, memory: { previous, held: held.at(-1) ?? memory.held, met } };
}

function scoreOf(opinion: number, succeeded: boolean, settings: RewardSettings): number {
  if (settings.round_rewards) return Number(succeeded);
  return succeeded && !settings.reference_quirks ? 1 : opinion;
}
