/** Films made from the env and decoded again. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after, test } from "node:test";
import { findFfmpeg } from "#formats";
import { tensor, zeros } from "#tensor";
import { EpisodeVideos } from "../pictures/films/episode-videos.ts";
import { RolloutVideo } from "../pictures/films/rollout-video.ts";
import { progressOf } from "../pictures/films/slot-film.ts";
import { replayEpisode } from "../recordings/replays/replay.ts";
import type { ChunkWatcher } from "../simulators/slots/chunk-watcher.ts";
import { watchAll } from "../simulators/slots/watchers.ts";
import { openSimulator } from "./vector/opened.ts";
import { simulatorEnvSettings } from "./vector/settings.ts";
import { SimulatorEnv } from "./vector/simulator-env.ts";

const folder = mkdtempSync(join(tmpdir(), "reverie-video-"));
after(() => rmSync(folder, { recursive: true, force: true }));
async function play(watcher: ChunkWatcher, chunks: number): Promise<void> {
  const settings = simulatorEnvSettings.parse({
    task_suite_name: "tabletop_object",
    max_episode_steps: 8,
    auto_reset: true,
    wrist_camera: false,
    init_params: { camera_heights: 48, camera_widths: 64 },
    env_workers: 0,
  });
  const env = new SimulatorEnv(3, settings, { watcher });
  await env.reset();
  for (let i = 0; i < chunks; i++) {
    const values = Float32Array.from({ length: 3 * 4 * 7 }, (_, k) => Math.sin(3.7 * (k + 1) * (i + 1)));
    await env.step(tensor(values, { shape: [3, 4, 7] }));
  }
  await env.close();
}

/** Width, height and number of frames, as ffmpeg sees them. */
function probe(path: string): { size: string; frames: number } {
  const args = ["-i", path, "-map", "0:v", "-f", "rawvideo", "-pix_fmt", "gray", "-"];
  const raw = execFileSync(findFfmpeg(), ["-v", "error", ...args], { maxBuffer: 2 ** 28 });
  let said = "";
  try {
    execFileSync(findFfmpeg(), ["-i", path], { stdio: ["ignore", "ignore", "pipe"] });
  } catch (error) {
    said = String((error as { stderr: Buffer }).stderr);
  }
  const [, size = "", width = "0", height = "1"] = /Video:.*?, ((\d+)x(\d+))/.exec(said) ?? [];
  return { size, frames: raw.length / (Number(width) * Number(height)) };
}

const { width, height, caption } = { width: 64, height: 48, caption: true };

test("an episode's video has its first sight and one frame per action; a rollout's also those after resets", async () => {
  const episodes = new EpisodeVideos({ folder: join(folder, "e"), width, height, caption, fps: 10 });
  const rollout = new RolloutVideo({
    folder: join(folder, "r"),
    seed: 7,
    slots: 3,
    width,
    height,
    caption,
    fps: 10,
  });
  await play(watchAll([episodes, rollout]), 3);
  await episodes.finish();
  await rollout.flush();
  assert.deepEqual(
    episodes.paths.map((path) => probe(path).frames),
    [9, 9, 9, 5, 5, 5],
  );
  assert.equal(probe(episodes.paths[0]!).size, "256x288"); // 192 rows of picture, 96 of caption
  assert.match(basename(episodes.paths[0]!), /^episode-00000-task\d-trial\d+-(success|failure)\.mp4$/);
  // Three slots: one row of three. 1 + 4 + 4 + 1 after the reset + 4.
  assert.deepEqual(rollout.paths, [join(folder, "r", "seed_7", "0.mp4")]);
  assert.deepEqual(probe(rollout.paths[0]!), { size: "768x288", frames: 14 });
});

test("every n-th episode is filmed, and successes are dropped when only failures are wanted", async () => {
  const some = new EpisodeVideos({ folder: join(folder, "s"), width, height, caption, fps: 10, every: 4 });
  const failures = new EpisodeVideos({
    folder: join(folder, "f"),
    width,
    height,
    caption,
    fps: 10,
    failuresOnly: true,
  });
  await play(watchAll([some, failures]), 3);
  await some.finish();
  await failures.finish();
  assert.deepEqual(some.paths.map((path) => basename(path).slice(0, 13)).sort(), [
    "episode-00000",
    "episode-00004",
  ]);
  assert.ok(failures.paths.every((path) => path.endsWith("-failure.mp4")));
});

test("an env section's video_cfg films each pass and keeps replays, without any wiring", async () => {
  const section = {
    task_suite_name: "tabletop_object",
    max_episode_steps: 8,
    init_params: { camera_heights: 48, camera_widths: 64 },
    env_workers: 0,
    video_cfg: { save_video: true, video_base_dir: join(folder, "cfg"), save_replays: true },
  };
  const { env } = await openSimulator(section, {
    size: 2,
    firstSlot: 0,
    slots: 2,
    seedOffset: 0,
    device: "cpu",
  });
  for (let pass = 0; pass < 2; pass++) {
    await env.reset();
    await env.step(zeros([2, 4, 7]));
    env.updateResetIds();
  }
  await env.close();
  for (const name of ["0.mp4", "1.mp4"])
    assert.deepEqual(probe(join(folder, "cfg", "seed_0", name)), { size: "512x288", frames: 5 });
  const replays = readdirSync(join(folder, "cfg", "replays"));
  assert.equal(replays.length, 4);
  assert.equal(replayEpisode(join(folder, "cfg", "replays", replays[0]!)).identical, true);
});

test("a film says the episode's return, so that a success that was paid for earlier does not look unpaid", () => {
  const sight = { main: new Uint8Array(), success: [0, 1, 0] };
  const outcomes = [0, 5, -5].map((reward) => ({ reward, terminated: false }));
  const account = { elapsed: 10, successOnce: true };
  const before = { step: 7, return: 0, success: false };
  assert.deepEqual(progressOf({ slot: 0, sight, outcomes, account }, before), [
    { step: 8, return: 0, success: false },
    { step: 9, return: 5, success: true },
    { step: 10, return: 5, success: true },
  ]);
});

test("films of single episodes are drawn large, with an overview beside the policy's camera and without its pointer", async () => {
  const section = {
    task_suite_name: "tabletop_object",
    max_episode_steps: 8,
    init_params: { camera_heights: 64, camera_widths: 64 },
    env_workers: 0,
    video_cfg: { save_video: true, layout: "episodes", video_base_dir: join(folder, "large") },
  };
  const seen: { main: Uint8Array; film?: readonly Uint8Array[] | undefined }[] = [];
  const watcher: ChunkWatcher = { began: (_, __, sight) => void seen.push(sight) };
  const place = { size: 1, firstSlot: 0, slots: 1, seedOffset: 0, device: "cpu", watcher } as const;
  const { env } = await openSimulator(section, place);
  await env.reset();
  const [{ main, film } = { main: new Uint8Array() }] = seen;
  assert.equal(main.length, 64 * 64 * 3);
  assert.equal(film?.[0]?.length, 256 * 512 * 3);
  assert.ok(pinkPixels(main) > 5, "the policy sees its pointer");
  assert.equal(pinkPixels(film![0]!), 0);
  await env.step(zeros([1, 4, 7]));
  await env.close();
  const [name = ""] = readdirSync(join(folder, "large"));
  assert.deepEqual(probe(join(folder, "large", name)), { size: "512x352", frames: 5 });
});

/** Pixels of the color that only the pointer beam has. */
function pinkPixels(picture: Uint8Array): number {
  let count = 0;
  for (let i = 0; i < picture.length; i += 3) {
    const [r, g, b] = picture.subarray(i, i + 3);
    if (r! > 200 && g! < 90 && b! > 140) count++;
  }
  return count;
}
