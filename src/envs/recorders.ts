/** Makes the watchers that an env section's `video_cfg` asks for. */
import { join } from "node:path";
import { z } from "zod";
import type { Film } from "#pictures";
import { EpisodeVideos, RolloutVideo } from "#pictures";
import { ReplayRecorder } from "#recordings";
import type { ChunkWatcher, FilmView } from "#simulators";
import { findSuite } from "#simulators";
import type { SimulatorEnvSettings } from "./vector/settings.ts";

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

/** Smaller pictures are too small for people. */
const legibleWidth = 256;

/**
 * How a simulator draws the films that a section asks for: large enough for people, and beside the policy's camera an
 * overview, where each episode has a film of its own. Undefined where nothing is filmed, or where the policy's own pictures will do.
 */
export function filmViewOf(
  section: Readonly<Record<string, unknown>>,
  { init_params: { camera_widths: width, camera_heights: height } }: SimulatorEnvSettings,
): FilmView | undefined {
  const video = videoSettings.parse(section.video_cfg ?? {});
  const overview = video.layout === "episodes";
  if (!video.save_video || (!overview && width >= legibleWidth)) return undefined;
  const factor = Math.max(1, Math.ceil(legibleWidth / width));
  return { width: factor * width, height: factor * height, overview };
}

/** Whether a section asks for files from which episodes can be played again. */
export const wantsReplays = (section: Readonly<Record<string, unknown>>): boolean =>
  videoSettings.parse(section.video_cfg ?? {}).save_replays;

export function recordersOf(
  section: Readonly<Record<string, unknown>>,
  settings: SimulatorEnvSettings,
  place: RecorderPlace,
): ChunkWatcher[] {
  const { camera_heights, camera_widths } = settings.init_params;
  const view = filmViewOf(section, settings);
  const width = view ? view.width * (view.overview ? 2 : 1) : camera_widths;
  const films = filmsOf(
    section,
    { width, height: view?.height ?? camera_heights, seed: settings.seed },
    place,
  );
  if (!wantsReplays(section)) return films;
  const folder = folderOf(videoSettings.parse(section.video_cfg ?? {}).video_base_dir, place);
  return [...films, replayRecorder(settings, join(folder, "replays"))];
}

const folderOf = (base: string, { firstSlot }: RecorderPlace): string =>
  firstSlot === 0 ? base : join(base, `from_slot_${firstSlot}`);

function replayRecorder(settings: SimulatorEnvSettings, folder: string): ReplayRecorder {
  const suite = findSuite(settings.task_suite_name);
  const settleSteps = settings.settle_steps ?? suite.pack.control.settleSteps;
  return new ReplayRecorder({ folder, suite, settleSteps, gripperOpen: settings.reset_gripper_open });
}
