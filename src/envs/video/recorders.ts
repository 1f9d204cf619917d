/** Makes the watchers that an env section's `video_cfg` asks for. */
import { join } from "node:path";
import { z } from "zod";
import { ReplayRecorder } from "../episodes/replay-recorder.ts";
import { findSuite } from "../packs.ts";
import type { SimulatorEnvSettings } from "../vector/settings.ts";
import type { ChunkWatcher } from "../vector/simulator-env.ts";
import { EpisodeVideos } from "./episode-videos.ts";
import { RolloutVideo } from "./rollout-video.ts";

/** The configuration's frame checks these keys; here they only need their defaults. */
const videoSettings = z.looseObject({
  save_video: z.boolean().default(false),
  info_on_video: z.boolean().default(true),
  video_base_dir: z.string().default("videos"),
  fps: z.number().positive().nullish(),
  layout: z.enum(["tiled", "episodes"]).default("tiled"),
  every: z.int().positive().default(1),
  failures_only: z.boolean().default(false),
  save_replays: z.boolean().default(false),
});

/** Control steps per second: a video at this rate shows real time. */
const controlRate = 20;

export interface RecorderPlace {
  /** Slots of this env, and the number of its first one in the run: envs must not write the same files. */
  readonly size: number;
  readonly firstSlot: number;
}

export function recordersOf(
  section: Readonly<Record<string, unknown>>,
  settings: SimulatorEnvSettings,
  { size, firstSlot }: RecorderPlace,
): ChunkWatcher[] {
  const video = videoSettings.parse(section.video_cfg ?? {});
  const { camera_heights: height, camera_widths: width } = settings.init_params;
  const film = { width, height, caption: video.info_on_video, fps: video.fps ?? controlRate };
  const folder =
    firstSlot === 0 ? video.video_base_dir : join(video.video_base_dir, `from_slot_${firstSlot}`);
  const recorders: ChunkWatcher[] = [];
  if (video.save_video && video.layout === "tiled")
    recorders.push(new RolloutVideo({ ...film, folder, seed: settings.seed, slots: size }));
  if (video.save_video && video.layout === "episodes")
    recorders.push(
      new EpisodeVideos({ ...film, folder, every: video.every, failuresOnly: video.failures_only }),
    );
  if (video.save_replays) recorders.push(replayRecorder(settings, join(folder, "replays")));
  return recorders;
}

function replayRecorder(settings: SimulatorEnvSettings, folder: string): ReplayRecorder {
  const suite = findSuite(settings.task_suite_name);
  const settleSteps = settings.settle_steps ?? suite.pack.control.settleSteps;
  return new ReplayRecorder({ folder, suite, settleSteps, gripperOpen: settings.reset_gripper_open });
}
