/** Physics simulators: the suites of LIBERO, of our tabletop and of our home, their experts and starts, and slots that play episodes. */
export { bddlSuite } from "./bddl-suite.ts";
export { pictureSide, settleSteps } from "./bounds.ts";
export { runEpisode } from "./experts/episode.ts";
export type { SceneExpert } from "./experts/expert.ts";
export { drawMistakes, type MistakeOptions } from "./experts/mistakes.ts";
export { ActionNoise, type NoiseOptions } from "./experts/noise.ts";
export { liberoFolder } from "./libero/folder.ts";
export { liberoPack } from "./libero/pack.ts";
export { prepareLibero } from "./libero/prepare/prepare.ts";
export { makeExpert } from "./make-expert.ts";
export type { ChunkWatcher, PlayedChunk } from "./slots/chunk-watcher.ts";
export {
  type EpisodeAccount,
  enterStep,
  episodeStats,
  newAccount,
  type Outcome,
} from "./slots/episode-account.ts";
export type { FilmView } from "./slots/film-camera.ts";
export {
  type ChunkSight,
  type HostSettings,
  type Sight,
  type SlotChunk,
  SlotHost,
  type SlotSnapshot,
  type SlotStart,
  slotHostProgram,
  storedStart,
} from "./slots/slot-host.ts";
export { watchAll } from "./slots/watchers.ts";
export { drawFreshStart } from "./starts/fresh-start.ts";
export {
  type ChosenStarts,
  freshStartSeed,
  freshStartsPerTask,
  indexOfSeed,
  purposeOf,
  readStarts,
  type StartPurpose,
  seedRanges,
  startSeed,
  startsPattern,
  storedStartOf,
} from "./starts/start-seeds.ts";
export { findSuite, type Suite, type SuiteEntry, suiteNames, suites } from "./suites.ts";
