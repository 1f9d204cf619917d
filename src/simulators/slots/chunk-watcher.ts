/** Who may look on while simulated episodes play, and what they are shown. */
import type { EpisodeAccount, Outcome } from "./episode-account.ts";
import type { ChunkSight, Sight, SlotStart } from "./slot-host.ts";

export interface PlayedChunk {
  readonly slot: number;
  readonly actions: Float32Array; // [C, A]
  readonly sight: ChunkSight;
  readonly outcomes: readonly Outcome[]; // [C]
  readonly account: Readonly<EpisodeAccount>; // after the chunk
}

/** For videos and recordings: sees every chunk of every slot. The env waits for what it returns. */
export interface ChunkWatcher {
  /** Whether pictures between the last ones of chunks are wanted, by slot. */
  films?(slot: number): boolean;
  began?(start: SlotStart, instruction: string, sight: Sight): void | Promise<void>;
  /** After all slots of a reset began. */
  settled?(): void | Promise<void>;
  played?(chunk: PlayedChunk): void | Promise<void>;
  /** After all slots played their chunk, before those that are done reset. */
  chunkEnded?(): void | Promise<void>;
  /** The loop draws new starts: a pass over the slots is complete. */
  rolloutEnded?(): void | Promise<void>;
  /** The env closes. */
  closed?(): void | Promise<void>;
}
