/** A part of a recording: its first shards, as many as hold the wanted number of episodes. Tasks take turns in a recording, so any part is balanced. */
import type { Demonstrations } from "#recordings";

export function firstEpisodes(set: Demonstrations, count: number): Demonstrations {
  let held = 0;
  const shards = set.info.shards.filter(({ episodes }) => {
    const wanted = held < count;
    if (wanted) held += episodes;
    return wanted;
  });
  return {
    info: { ...set.info, shards },
    shards: set.shards.slice(0, shards.length),
    episodes: set.episodes.filter(({ shard }) => shard < shards.length),
  };
}
