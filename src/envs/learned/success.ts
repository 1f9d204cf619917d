/**
 * When an imagined episode has succeeded: the reward model is convinced of so many frames in a row.
 *
 * The one place that decides it. Rewards, endings and the logged success of episodes (`rewards.ts`, `slots.ts`), films, truth
 * meters and the exams of co-evolution all ask here, so that what is reported is what was rewarded.
 */
export interface SuccessCriterion {
  /** A frame convinces when the reward model's probability of success is above it. */
  readonly threshold: number;
  /** Convincing frames in a row that make a success. */
  readonly holdFrames: number;
}

export interface SuccessSettings {
  readonly round_rewards: boolean;
  readonly judge_threshold: number;
  readonly success_reward_threshold: number;
  readonly success_hold_frames: number;
}

/** Rounding asks `judge_threshold`: any `success_reward_threshold` lies between a rounded 0 and 1. */
export const successCriterion = (settings: SuccessSettings): SuccessCriterion => ({
  threshold: settings.round_rewards ? settings.judge_threshold : settings.success_reward_threshold,
  holdFrames: settings.success_hold_frames,
});

/** Convincing frames in a row, up to and with each frame; `before`: those right before the first. */
export function heldFrames(
  opinions: ArrayLike<number>,
  { threshold }: Pick<SuccessCriterion, "threshold">,
  before = 0,
): number[] {
  let held = before;
  return Array.from(opinions, (opinion) => {
    held = opinion > threshold ? held + 1 : 0;
    return held;
  });
}

/** Whether an episode of these frames is a success. */
export const succeeds = (opinions: ArrayLike<number>, criterion: SuccessCriterion): boolean =>
  heldFrames(opinions, criterion).some((held) => held >= criterion.holdFrames);
