/** Environments: simulated benchmarks and their engine. */

export type { EpisodeJob } from "./demonstrations/begin-job.ts";
export { type CollectSettings, collectSettingsSchema } from "./demonstrations/collect-settings.ts";
export {
  type EpisodeOutcome,
  ShardCollector,
  type ShardSummary,
} from "./demonstrations/collect-shard.ts";
export { type DatasetInfo, infoPath, shardPath } from "./demonstrations/layout.ts";
export { type Demonstrations, type Episode, openDemonstrations } from "./demonstrations/reader.ts";
export { type FrameRow, ShardRecorder } from "./demonstrations/recorder.ts";
export {
  type FromWorker,
  runShards,
  type ShardJob,
  type ShardRun,
  type ToWorker,
} from "./demonstrations/shard-workers.ts";
export { Mt19937 } from "./engine/mt19937.ts";
export type { AssetPack, InitStates, TaskEntry } from "./engine/pack.ts";
export type { ResetRequest, VectorEnv } from "./env.ts";
export { type ReplayVerdict, replayEpisode } from "./episodes/replay.ts";
export { ReplayRecorder, type ReplayRecorderOptions } from "./episodes/replay-recorder.ts";
export * from "./footage/index.ts";
export * from "./learned/index.ts";
export { exportLerobot } from "./lerobot/export-lerobot.ts";
export { liberoFolder } from "./libero/folder.ts";
export { liberoPack } from "./libero/pack.ts";
export { type Prepared, type PrepareOptions, prepareLibero } from "./libero/prepare/prepare.ts";
export {
  type EnvCursor,
  type EnvFamily,
  type EnvPlace,
  environmentFamily,
  environments,
  type OpenedEnv,
  type StartPool,
  unplayableText,
} from "./open-env.ts";
export { findSuite, type Suite, suiteNames } from "./packs.ts";
export { environmentSections } from "./sections/index.ts";
export {
  type ChosenStarts,
  freshStartSeed,
  indexOfSeed,
  purposeOf,
  readStarts,
  type StartPurpose,
  seedRanges,
  startSeed,
  storedStartOf,
  storedStartSeed,
} from "./starts/start-seeds.ts";
export { tabletopPack } from "./tabletop/pack.ts";
export type { ChunkWatcher } from "./vector/chunk-watcher.ts";
export { type SimulatorEnvSettings, simulatorEnvSettings } from "./vector/settings.ts";
export {
  type EnvPosition,
  SimulatorEnv,
  type SimulatorEnvParts,
  type SimulatorEnvState,
} from "./vector/simulator-env.ts";
export { watchAll } from "./vector/watchers.ts";
export { type EpisodeVideoOptions, EpisodeVideos } from "./video/episode-videos.ts";
export { RolloutVideo, type RolloutVideoOptions } from "./video/rollout-video.ts";
