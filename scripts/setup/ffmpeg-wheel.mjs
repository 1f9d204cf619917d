/**
 * ffmpeg with libx264, from the imageio-ffmpeg wheel: one static program of 80 MB (a 29 MB download).
 *
 * It makes videos of episodes. Chosen over npm's node-av (63 MB download, 175 MB, inside our process): a
 * separate program cannot crash a training run. An ffmpeg on the PATH or in REVERIE_FFMPEG serves as well,
 * and without any of them everything but videos works, so a failure here is remembered for a day and passed by.
 */
import { accessSync, constants, existsSync, mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { WheelRefused } from "./failure.mjs";
import { deps } from "./folders.mjs";
import { ensureVenv, installedInfo, installWheels } from "./pip.mjs";

const version = "0.6.0";
const failedBefore = join(deps, "ffmpeg-failed");
const oneDay = 24 * 3600 * 1000;

export const ffmpegWheel = {
  name: "ffmpeg (H.264 videos)",
  mend: "rm -f .deps/ffmpeg-failed && node scripts/setup.mjs",
  optional: true,

  isDone() {
    if (hasEncoder()) return true;
    return existsSync(failedBefore) && Date.now() - statSync(failedBefore).mtimeMs < oneDay;
  },

  isPresent: () => hasEncoder(),

  async run({ detail, progress }) {
    try {
      await ensureVenv(detail);
      detail(`fetching imageio-ffmpeg==${version}`);
      await installWheels([`imageio-ffmpeg==${version}`], { detail, progress });
      rmSync(failedBefore, { force: true });
      return installedInfo("imageio_ffmpeg")?.version;
    } catch (error) {
      mkdirSync(deps, { recursive: true });
      writeFileSync(failedBefore, String(error.message));
      const why = error instanceof WheelRefused ? error.message : "pip could not fetch imageio-ffmpeg";
      progress.advise(`${why}; videos need an ffmpeg on the PATH until it can`);
      return "failed; going on without videos";
    }
  },
};

function hasEncoder() {
  if (process.env.REVERIE_FFMPEG || installedInfo("imageio_ffmpeg")?.version === version) return true;
  return (process.env.PATH ?? "").split(delimiter).some((folder) => isProgram(join(folder, "ffmpeg")));
}

function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
