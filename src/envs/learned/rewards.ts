/**
 * From a judge's opinion of every frame to rewards and success.
 *
 * With `use_rel_reward` a step earns the change of coefficient · opinion: +coefficient when success appears,
 * −coefficient when it is lost, 0 while it stays. Without it the opinion itself is the reward, and the coefficient
 * is not applied (the reference's behaviour). Success may be asked to hold for several frames in a row, which
 * makes a flickering judge harder to exploit.
 */
export interface RewardSettings {
  readonly reward_coef: number;
  readonly use_rel_reward: boolean;
  readonly success_reward_threshold: number;
  readonly success_hold_frames: number;
}

/** What is carried from one chunk of an episode to the next. */
export interface RewardMemory {
  readonly previous: number; // coefficient · opinion of the last frame
  readonly held: number; // frames in a row, up to now, that were judged successes
}

export const freshRewardMemory: RewardMemory = { previous: 0, held: 0 };

export interface JudgedChunk {
  readonly rewards: readonly number[];
  readonly success: boolean;
  readonly memory: RewardMemory;
}

export function rewardChunk(
  opinions: ArrayLike<number>,
  memory: RewardMemory,
  settings: RewardSettings,
): JudgedChunk {
  const { reward_coef, use_rel_reward, success_reward_threshold, success_hold_frames } = settings;
  const rewards: number[] = [];
  let { previous, held } = memory;
  let success = false;
  for (const opinion of Array.from(opinions)) {
    const value = reward_coef * opinion;
    rewards.push(use_rel_reward ? value - previous : opinion);
    previous = value;
    held = opinion >= success_reward_threshold ? held + 1 : 0;
    success ||= held >= success_hold_frames;
  }
  return { rewards, success, memory: { previous, held } };
}
