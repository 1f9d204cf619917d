/**
 * The running episodes of a learned env, one record per slot.
 *
 * Everything is per slot: each has its own clock, memory and reward state, so that one can end and restart
 * without touching its neighbors.
 */
import type { EpisodeStats } from "#data";
import { keep, type Tensor } from "#tensor";
import type { WorldMemory } from "#worlds";
import { freshRewardMemory, type JudgedChunk, type RewardMemory, rewardChunk } from "./rewards.ts";
import type { LearnedEnvSettings } from "./settings.ts";

export interface Slot {
  memory: WorldMemory;
  /** What the policy sees: uint8 [H, W, 3]. */
  picture: Tensor;
  state: Tensor | undefined; // float32 [D]
  instruction: string;
  startId: number;
  rewardMemory: RewardMemory;
  elapsed: number; // actions taken
  return: number;
  successOnce: boolean;
  successAtEnd: boolean;
  /** The episode ended and the slot waits for a reset. */
  over: "no" | "terminated" | "truncated";
  /** Time is up, whether or not the episode ended by itself. */
  late: boolean;
}

/** By frame; of frames after the end 0 and false. */
export type PlayedChunk = Pick<JudgedChunk, "rewards" | "holds">;

export function newSlot(begin: Pick<Slot, "memory" | "picture" | "state" | "instruction" | "startId">): Slot {
  return {
    ...begin,
    rewardMemory: freshRewardMemory,
    elapsed: 0,
    return: 0,
    successOnce: false,
    successAtEnd: false,
    over: "no",
    late: false,
  };
}

/** Replaces what a slot remembers, freeing what it remembered before. */
export function rememberIn(
  slot: Slot,
  memory: WorldMemory,
  picture: Tensor,
  state: Tensor | undefined,
): void {
  disposeSlot(slot);
  slot.memory = keepMemory(memory);
  slot.picture = keep(picture);
  slot.state = state && keep(state);
}

export function keepMemory(memory: WorldMemory): WorldMemory {
  for (const value of Object.values(memory)) keep(value);
  return memory;
}

export function disposeSlot(slot: Slot): void {
  for (const value of Object.values(slot.memory)) value.dispose();
  slot.picture.dispose();
  slot.state?.dispose();
}

/** The numbers of each slot's episode up to now, under the seeds' names. */
export function episodeStats(slots: readonly Slot[], withEnd: boolean): EpisodeStats {
  const collect = (read: (slot: Slot) => number): Float32Array => Float32Array.from(slots, read);
  return {
    success_once: collect((slot) => Number(slot.successOnce)),
    return: collect((slot) => slot.return),
    episode_len: collect((slot) => slot.elapsed),
    reward: collect((slot) => slot.return / Math.max(slot.elapsed, 1)),
    ...(withEnd && { success_at_end: collect((slot) => Number(slot.successAtEnd)) }),
  };
}

/**
 * One slot's rewards for a chunk of the reward model's opinions; its clock, return and ending move on. Frames after the episode's end, also
 * within the chunk in which time ran out, earn nothing and change nothing.
 */
export function playOn(slot: Slot, opinions: readonly number[], settings: LearnedEnvSettings): PlayedChunk {
  const left = slot.over === "no" ? settings.max_episode_steps - slot.elapsed : 0;
  const counted = settings.reference_quirks ? opinions : opinions.slice(0, left); // the reference goes on after the end
  const { rewards, holds, memory } = rewardChunk(counted, slot.rewardMemory, settings);
  if (counted.length > 0) enter(slot, { rewards, holds }, memory, settings);
  return {
    rewards: opinions.map((_, frame) => rewards[frame] ?? 0),
    holds: opinions.map((_, frame) => holds[frame] ?? false),
  };
}

function enter(
  slot: Slot,
  { rewards, holds }: PlayedChunk,
  memory: RewardMemory,
  settings: LearnedEnvSettings,
): void {
  const success = holds.includes(true);
  slot.rewardMemory = memory;
  slot.elapsed += rewards.length;
  slot.return += rewards.reduce((sum, reward) => sum + reward, 0);
  slot.successOnce ||= success;
  slot.successAtEnd = holds.at(-1) ?? false;
  slot.late = slot.elapsed >= settings.max_episode_steps;
  const ended = success && !settings.ignore_terminations;
  slot.over = ended ? "terminated" : slot.late ? "truncated" : "no";
}
