/** What makes films of episodes, and all that it needs to know of them: simulators and imagined envs tell the same. */

/** Which episode a slot begins: a suite's stored one, or a recorded start of a world model. */
export type FilmedStart =
  | { readonly slot: number; readonly task: number; readonly trial: number }
  | { readonly slot: number; readonly start: number };

export interface FilmedSight {
  readonly main: Uint8Array; // [H, W, 3]
  /** Pictures for people, of the film's size: one of a start, one after each action. Absent: the last one of `main` only. */
  readonly film?: readonly Uint8Array[] | undefined;
}

export interface FilmedChunk {
  readonly slot: number;
  readonly sight: FilmedSight & {
    readonly success: ArrayLike<number>; // [C], 1 or 0
  };
  readonly outcomes: readonly { readonly reward: number; readonly terminated: boolean }[]; // [C]
  readonly account: { readonly elapsed: number; readonly successOnce: boolean }; // after the chunk
}

/** The env waits for what it returns. */
export interface Film {
  /** Whether pictures between the last ones of chunks are wanted of a slot: a simulator draws them only then. */
  films(slot: number): boolean;
  began(start: FilmedStart, instruction: string, sight: FilmedSight): void | Promise<void>;
  /** After all slots of a reset began. */
  settled?(): void | Promise<void>;
  played(chunk: FilmedChunk): void | Promise<void>;
  /** After all slots played their chunk, before those that are done reset. */
  chunkEnded?(): void | Promise<void>;
  /** A pass over the slots is complete. */
  rolloutEnded?(): void | Promise<void>;
  closed(): void | Promise<void>;
}
