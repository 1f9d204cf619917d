/** Watches an env and writes every finished episode as a replay file. */
import { join } from "node:path";
import { mujocoVersion } from "#mujoco";
import type { ChunkWatcher, PlayedChunk, Suite } from "#simulators";
import { type Sight, type SlotStart, storedStart } from "#simulators";
import { encodeNumbers, writeReplay } from "./replay-file.ts";

export interface ReplayRecorderOptions {
  readonly folder: string;
  readonly suite: Suite;
  readonly settleSteps: number;
  readonly gripperOpen: boolean;
  /** Which finished episodes are kept; all by default. */
  readonly keep?: (episode: { readonly number: number; readonly success: boolean }) => boolean;
}

interface Growing {
  readonly start: SlotStart;
  readonly instruction: string;
  readonly firstHash: string;
  readonly row: Float64Array | undefined;
  readonly actions: number[];
  readonly hashes: string[];
  success: string;
}

export class ReplayRecorder implements ChunkWatcher {
  readonly #options: ReplayRecorderOptions;
  readonly #growing = new Map<number, Growing>();
  #count = 0;
  /** Files written so far. */
  readonly paths: string[] = [];

  constructor(options: ReplayRecorderOptions) {
    this.#options = options;
  }

  began(start: SlotStart, instruction: string, sight: Sight): void {
    this.#finish(start.slot);
    const empty = { actions: [], hashes: [], success: "" };
    const { hash: firstHash, row } = sight;
    this.#growing.set(start.slot, { start, instruction, firstHash, row, ...empty });
  }

  played({ slot, actions, sight }: PlayedChunk): void {
    const episode = this.#growing.get(slot);
    if (!episode) return; // under way since before the recording
    episode.actions.push(...actions);
    episode.hashes.push(...sight.hashes);
    episode.success += sight.success.join("");
  }

  /** Writes what is under way, too: the end of a run, or of an evaluation. */
  finish(): void {
    for (const slot of [...this.#growing.keys()]) this.#finish(slot);
  }

  closed(): void {
    this.finish();
  }

  #finish(slot: number): void {
    const episode = this.#growing.get(slot);
    this.#growing.delete(slot);
    if (!episode || episode.hashes.length === 0) return;
    const { suite, folder, settleSteps, gripperOpen, keep = () => true } = this.#options;
    const { task, trial, seed } = episode.start;
    const number = this.#count++;
    if (!keep({ number, success: episode.success.includes("1") })) return;
    const { name } = suite.tasks[task]!;
    const path = join(folder, `${String(number).padStart(5, "0")}-task${task}-trial${trial}.replay.json`);
    writeReplay(path, {
      mujoco: mujocoVersion(),
      suite: suite.name,
      task: name,
      language: episode.instruction,
      trial,
      seed,
      settle_steps: settleSteps,
      gripper_open: gripperOpen,
      start: encodeNumbers(episode.row ?? storedStart(suite, task, trial)),
      first_hash: episode.firstHash,
      actions: encodeNumbers(Float32Array.from(episode.actions)),
      hashes: episode.hashes,
      success: episode.success,
    });
    this.paths.push(path);
  }
}
