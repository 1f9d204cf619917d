/** Several watchers as one. */
import type { ChunkWatcher } from "./chunk-watcher.ts";

export function watchAll(watchers: readonly ChunkWatcher[]): ChunkWatcher {
  const each = async (tell: (watcher: ChunkWatcher) => void | Promise<void>) => {
    for (const watcher of watchers) await tell(watcher);
  };
  return {
    films: (slot) => watchers.some((watcher) => watcher.films?.(slot)),
    began: (start, instruction, sight) => each((watcher) => watcher.began?.(start, instruction, sight)),
    settled: () => each((watcher) => watcher.settled?.()),
    played: (chunk) => each((watcher) => watcher.played?.(chunk)),
    chunkEnded: () => each((watcher) => watcher.chunkEnded?.()),
    rolloutEnded: () => each((watcher) => watcher.rolloutEnded?.()),
    closed: () => each((watcher) => watcher.closed?.()),
  };
}
