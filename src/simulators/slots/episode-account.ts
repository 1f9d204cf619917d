/**
 * The score of one running episode: what each action earned, whether it is over, and what will be logged about it.
 *
 * Success is a predicate of the moment and can be lost again. With relative rewards, gaining it earns +coef once, holding
 * it nothing, losing it −coef; what is logged as the episode's return stops at the first success.
 *
 * A chunk is played to its end even if the episode ends in its midst. What follows there belongs to no episode: it earns nothing, is no
 * success and takes none back. (The reference goes on counting; an algorithm that sums a chunk's rewards then sees a success of 0.)
 */
import type { EpisodeStats } from "#data";

export interface EpisodeRules {
  readonly reward_coef: number;
  readonly use_rel_reward: boolean;
  readonly use_step_penalty: boolean;
  readonly ignore_terminations: boolean;
  readonly max_episode_steps: number;
}

export interface Outcome {
  readonly reward: number;
  readonly terminated: boolean;
  readonly truncated: boolean;
}

/** Plain data, so that it can be saved and sent. */
export interface EpisodeAccount {
  elapsed: number;
  previousReward: number;
  return: number;
  successOnce: boolean;
  /** Actions until the first success. */
  successLength: number;
  successNow: boolean;
}

export const newAccount = (): EpisodeAccount => ({
  elapsed: 0,
  previousReward: 0,
  return: 0,
  successOnce: false,
  successLength: 0,
  successNow: false,
});

/** Enters one action after which the goal holds, or not. */
export function enterStep(account: EpisodeAccount, success: boolean, rules: EpisodeRules): Outcome {
  const solved = account.successOnce && !rules.ignore_terminations;
  if (solved || account.elapsed >= rules.max_episode_steps) {
    account.elapsed++;
    return { reward: 0, terminated: solved, truncated: account.elapsed >= rules.max_episode_steps };
  }
  const score = (rules.use_step_penalty ? -1 : 0) + rules.reward_coef * Number(success);
  const reward = rules.use_rel_reward ? score - account.previousReward : score;
  if (rules.use_rel_reward) account.previousReward = score;
  account.elapsed++;
  if (!account.successOnce) account.return += reward;
  if (success && !account.successOnce) account.successLength = account.elapsed;
  account.successOnce ||= success;
  account.successNow = success;
  return {
    reward,
    terminated: success && !rules.ignore_terminations,
    truncated: account.elapsed >= rules.max_episode_steps,
  };
}

/** One number per slot and name; the names are the reference's. */
export function episodeStats(accounts: readonly EpisodeAccount[], rules: EpisodeRules): EpisodeStats {
  const collect = (read: (account: EpisodeAccount) => number) => Float32Array.from(accounts, read);
  const length = (account: EpisodeAccount) => (account.successOnce ? account.successLength : account.elapsed);
  return {
    success_once: collect((account) => Number(account.successOnce)),
    return: collect((account) => account.return),
    episode_len: collect((account) => account.elapsed),
    reward: collect((account) => account.return / Math.max(length(account), 1)),
    ...(rules.ignore_terminations && { success_at_end: collect((account) => Number(account.successNow)) }),
  };
}
