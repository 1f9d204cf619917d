/** Makes the films that an env section's `video_cfg` asks for. */
import { join } from "node:path";
import { z } from "zod";
import { EpisodeVideos, type Film, RolloutVideo } from "#pictures";

/** The configuration's frame checks these keys; here they only need their defaults. */
export const videoSettings = z.looseObject({
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

/** Of the pictures that an env shows. */
export interface Pictures {
  readonly width: number;
  readonly height: number;
  readonly seed: number;
}

/** Films of a simulator or of an imagined env. */
export function filmsOf(
  section: Readonly<Record<string, unknown>>,
  { width, height, seed }: Pictures,
  place: RecorderPlace,
): Film[] {
  const video = videoSettings.parse(section.video_cfg ?? {});
  if (!video.save_video) return [];
  const film = { width, height, caption: video.info_on_video, fps: video.fps ?? controlRate };
  const folder = folderOf(video.video_base_dir, place);
  return video.layout === "tiled"
    ? [new RolloutVideo({ ...film, folder, seed, slots: place.size })]
    : [new EpisodeVideos({ ...film, folder, every: video.every, failuresOnly: video.failures_only })];
}

export const folderOf = (base: string, { firstSlot }: RecorderPlace): string =>
  firstSlot === 0 ? base : join(base, `from_slot_${firstSlot}`);

/** Whether a section asks for files from which episodes can be played again. */
export const wantsReplays = (section: Readonly<Record<string, unknown>>): boolean =>
  videoSettings.parse(section.video_cfg ?? {}).save_replays;
