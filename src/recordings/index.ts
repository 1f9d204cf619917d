/** Episodes on disk: demonstrations to imitate, footage to make worlds from, replays, and the LeRobot format. */
export type { EpisodeJob, ShardJob } from "./demonstrations/begin-job.ts";
export { type CollectSettings, collectSettingsSchema } from "./demonstrations/collect-settings.ts";
export {
  type EpisodeOutcome,
  type ShardMaker,
  type ShardSummary,
  shardCollectorProgram,
} from "./demonstrations/collect-shard.ts";
export { type DatasetInfo, infoPath, shardPath } from "./demonstrations/layout.ts";
export {
  type DemonstratedEpisode,
  type Demonstrations,
  openDemonstrations,
} from "./demonstrations/reader.ts";
export { type FrameRow, ShardRecorder } from "./demonstrations/recorder.ts";
export { runShards } from "./demonstrations/shard-workers.ts";
export { EpisodeEnd } from "./footage/episode-end.ts";
export { type RecordingSettings, recordingSettings } from "./footage/recording-settings.ts";
export { type PlayedScene, ScenePlayer } from "./footage/scene-player.ts";
export { ScriptedRecorder } from "./footage/scripted-recorder.ts";
export { suiteCamera } from "./footage/suite-camera.ts";
export { exportLerobot } from "./lerobot/export-lerobot.ts";
export { replayEpisode } from "./replays/replay.ts";
export { ReplayRecorder } from "./replays/replay-recorder.ts";
