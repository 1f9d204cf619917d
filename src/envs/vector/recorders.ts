/** Makes the watchers that a simulator's env section asks for: films as people want to see them, and replays. */
import { join } from "node:path";
import { ReplayRecorder } from "#recordings";
import { type ChunkWatcher, type FilmView, findSuite } from "#simulators";
import { filmsOf, folderOf, type RecorderPlace, videoSettings, wantsReplays } from "../films.ts";
import type { SimulatorEnvSettings } from "./settings.ts";

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

function replayRecorder(settings: SimulatorEnvSettings, folder: string): ReplayRecorder {
  const suite = findSuite(settings.task_suite_name);
  const settleSteps = settings.settle_steps ?? suite.pack.control.settleSteps;
  return new ReplayRecorder({ folder, suite, settleSteps, gripperOpen: settings.reset_gripper_open });
}
