import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { UserError } from "#registry";
import { findFfmpeg } from "./ffmpeg.ts";
import { Mp4Writer } from "./mp4-writer.ts";

const folder = mkdtempSync(join(tmpdir(), "reverie-mp4-"));
const skip = hasFfmpeg() ? false : "needs ffmpeg: run node scripts/setup.mjs";

/** A moving color gradient with a hard-edged square: what rendered scenes are made of. */
function frame(width: number, height: number, time: number): Uint8Array {
  return Uint8Array.from({ length: width * height * 3 }, (_, i) => {
    const [x, y, channel] = [Math.floor(i / 3) % width, Math.floor(i / 3 / width), i % 3];
    if (Math.abs(x - 10 - time) < 6 && Math.abs(y - 20) < 6) return [220, 40, 30][channel]!;
    return [(x * 255) / width, (y * 255) / height, 90 + time][channel]!;
  });
}

test("a video decodes to the frames that were put in", { skip }, async () => {
  const [width, height, count] = [64, 48, 24];
  const path = join(folder, "new/clip.mp4");
  const writer = new Mp4Writer(path, { width, height, fps: 20 });
  for (let time = 0; time < count; time++) await writer.addFrame(frame(width, height, time));
  await writer.close();
  const decoded = decode(path);
  assert.equal(decoded.length, count * width * height * 3);
  for (const time of [0, count - 1]) {
    const start = time * width * height * 3;
    const quality = psnr(decoded.subarray(start, start + width * height * 3), frame(width, height, time));
    assert.ok(quality > 30, `frame ${time}: ${quality.toFixed(1)} dB`);
  }
});

test("a video is what players expect: H.264, 4:2:0, its rate, its index before its data", {
  skip,
}, async () => {
  const path = join(folder, "players.mp4");
  const writer = new Mp4Writer(path, { width: 32, height: 32, fps: 12.5 });
  for (let time = 0; time < 5; time++) await writer.addFrame(frame(32, 32, time));
  await writer.close();
  const facts = spawnSync(findFfmpeg(), ["-hide_banner", "-i", path], { encoding: "utf8" }).stderr;
  assert.match(facts, /Video: h264 .*yuv420p\(tv, bt709.*32x32.*12\.50 fps/);
  const bytes = readFileSync(path);
  assert.ok(bytes.indexOf("moov") < bytes.indexOf("mdat"), "the index is at the end");
});

test("odd sizes gain a black edge and keep their picture", { skip }, async () => {
  const path = join(folder, "odd.mp4");
  const writer = new Mp4Writer(path, { width: 33, height: 17, fps: 10, quality: 10 });
  for (let time = 0; time < 3; time++) await writer.addFrame(new Uint8Array(33 * 17 * 3).fill(200));
  await writer.close();
  const decoded = decode(path);
  assert.equal(decoded.length, 3 * 34 * 18 * 3);
  assert.ok(Math.abs(decoded[0]! - 200) < 6);
  assert.ok(decoded[34 * 18 * 3 - 1]! < 60, "the corner that was added is not dark");
});

test("the file appears only when it is complete, and not at all when given up", { skip }, async () => {
  const inner = mkdtempSync(join(folder, "inner-"));
  const path = join(inner, "late.mp4");
  const writer = new Mp4Writer(path, { width: 16, height: 16, fps: 10 });
  await writer.addFrame(new Uint8Array(16 * 16 * 3));
  assert.ok(!existsSync(path));
  await writer.abort();
  const empty = new Mp4Writer(path, { width: 16, height: 16, fps: 10 });
  await empty.close();
  assert.deepEqual(readdirSync(inner), []);
});

test("a missing or broken encoder is an error that names the video and does not hang", async () => {
  const before = process.env.REVERIE_FFMPEG;
  try {
    process.env.REVERIE_FFMPEG = join(folder, "absent");
    const options = { width: 256, height: 256, fps: 10 };
    assert.throws(() => new Mp4Writer(join(folder, "x.mp4"), options), /REVERIE_FFMPEG is .*not a program/);
    process.env.REVERIE_FFMPEG = "/bin/false";
    const writer = new Mp4Writer(join(folder, "x.mp4"), options);
    const work = async (): Promise<void> => {
      for (let i = 0; i < 100; i++) await writer.addFrame(new Uint8Array(256 * 256 * 3));
      await writer.close();
    };
    await assert.rejects(
      work(),
      (error) => error instanceof UserError && /could not write the video .*x\.mp4/.test(error.message),
    );
  } finally {
    if (before === undefined) delete process.env.REVERIE_FFMPEG;
    else process.env.REVERIE_FFMPEG = before;
  }
});

test("sizes and rates that no video has are refused", () => {
  assert.throws(
    () => new Mp4Writer(join(folder, "x.mp4"), { width: 0, height: 4, fps: 10 }),
    /cannot make a video of 0x4/,
  );
  assert.throws(
    () => new Mp4Writer(join(folder, "x.mp4"), { width: 4, height: 4, fps: Number.NaN }),
    UserError,
  );
});

function decode(path: string): Buffer {
  const args = [
    "-hide_banner",
    "-loglevel",
    "error",
    "-i",
    path,
    "-f",
    "rawvideo",
    "-pix_fmt",
    "rgb24",
    "pipe:1",
  ];
  return spawnSync(findFfmpeg(), args, { maxBuffer: 2 ** 26 }).stdout;
}

function psnr(actual: Uint8Array, wanted: Uint8Array): number {
  const squares = wanted.reduce((sum, value, i) => sum + (value - actual[i]!) ** 2, 0);
  return 10 * Math.log10(255 ** 2 / (squares / wanted.length));
}

function hasFfmpeg(): boolean {
  try {
    return findFfmpeg() !== "";
  } catch {
    return false;
  }
}
