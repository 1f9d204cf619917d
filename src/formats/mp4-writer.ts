/**
 * Writes H.264 videos as frames arrive: RGB in, a file that browsers and players open out.
 *
 * Frames are piped to ffmpeg's libx264, so a video of any length takes the memory of a few frames; `addFrame`
 * resolves when the encoder is ready for the next one. 4:2:0 color and an index at the front are what every
 * player expects. Odd sizes, which 4:2:0 cannot have, gain one black row or column. The file appears under its
 * own name only when it is complete.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { Late, UserError, within } from "#registry";
import { temporaryName } from "./atomic-write.ts";
import { findFfmpeg } from "./ffmpeg.ts";

export interface Mp4Options {
  readonly width: number;
  readonly height: number;
  readonly fps: number;
  /** x264's constant rate factor: 0 is lossless, 18 looks so, 28 is small. */
  readonly quality?: number;
}

/** Seconds that ffmpeg may take to accept a frame, and to finish a film. */
const frameSeconds = 60;
const filmSeconds = 300;

export class Mp4Writer {
  readonly path: string;
  readonly #options: Mp4Options;
  readonly #temporary: string;
  readonly #encoder: ChildProcess;
  readonly #ended: Promise<number | null>;
  #complaint = "";
  #frames = 0;

  constructor(path: string, options: Mp4Options) {
    checkOptions(options);
    mkdirSync(dirname(path), { recursive: true });
    this.path = path;
    this.#options = options;
    this.#temporary = temporaryName(path);
    this.#encoder = spawn(findFfmpeg(), encoderArguments(options, this.#temporary), {
      stdio: ["pipe", "ignore", "pipe"],
      detached: true, // Ctrl-C goes to the whole group and would end the film; it ends when its pipe does
    });
    this.#ended = new Promise((resolve) => {
      this.#encoder.once("close", resolve);
      this.#encoder.once("error", (error) => {
        this.#complaint += error.message;
        resolve(-1);
      });
    });
    this.#encoder.stderr?.on("data", (text: Buffer) => {
      this.#complaint = (this.#complaint + text.toString()).slice(-2000);
    });
    this.#encoder.stdin?.on("error", () => {}); // a broken pipe shows as the encoder's own exit
  }

  get frames(): number {
    return this.#frames;
  }

  /** One picture of width × height × 3 bytes, rows from the top. Await it before the next. */
  async addFrame(rgb: Uint8Array): Promise<void> {
    const { width, height } = this.#options;
    if (rgb.length !== width * height * 3) {
      throw new Error(`internal: frame of ${rgb.length} bytes for a video of ${width}x${height}`);
    }
    const pipe = this.#encoder.stdin;
    if (!pipe?.writable) await this.#fail();
    this.#frames++;
    // The pipe may hold the bytes after we return, and renderers reuse their frame: hence the copy.
    if (pipe!.write(Buffer.from(rgb))) return;
    const drained = new Promise<true>((resolve) => pipe!.once("drain", () => resolve(true)));
    if ((await this.#wait(Promise.race([drained, this.#ended]), frameSeconds)) !== true) await this.#fail();
  }

  /** Finishes the file and puts it in its place. A video without frames leaves no file. */
  async close(): Promise<void> {
    if (this.#frames === 0) return this.abort();
    this.#encoder.stdin?.end();
    const code = await this.#wait(this.#ended, filmSeconds);
    if (code !== 0) await this.#fail();
    renameSync(this.#temporary, this.path);
  }

  /** Gives the video up and removes what was written of it. */
  async abort(): Promise<void> {
    this.#encoder.kill("SIGKILL");
    await this.#ended;
    if (existsSync(this.#temporary)) rmSync(this.#temporary);
  }

  /** An encoder that stands still is ended, and the film with it. */
  async #wait<T>(answer: Promise<T>, seconds: number): Promise<T | undefined> {
    try {
      return await within(answer, seconds, "ffmpeg did not go on");
    } catch (error) {
      if (!(error instanceof Late)) throw error;
      this.#complaint = error.message;
      return undefined;
    }
  }

  async #fail(): Promise<never> {
    await this.abort();
    const said = this.#complaint.trim() || "it ended without a word";
    throw new UserError(`could not write the video ${this.path}: ffmpeg said: ${said}`);
  }
}

function checkOptions({ width, height, fps, quality = 18 }: Mp4Options): void {
  const whole = [width, height].every((size) => Number.isInteger(size) && size > 0 && size <= 16_384);
  if (!whole || !(fps > 0 && fps <= 1000) || !(quality >= 0 && quality <= 51)) {
    throw new UserError(
      `cannot make a video of ${width}x${height} at ${fps} frames/s with quality ${quality}`,
    );
  }
}

function encoderArguments({ width, height, fps, quality = 18 }: Mp4Options, output: string): string[] {
  const input = [
    "-f",
    "rawvideo",
    "-pix_fmt",
    "rgb24",
    "-s",
    `${width}x${height}`,
    "-r",
    String(fps),
    "-i",
    "pipe:0",
  ];
  const even = "pad=ceil(iw/2)*2:ceil(ih/2)*2";
  const colors =
    "scale=out_color_matrix=bt709:out_range=tv:flags=accurate_rnd+full_chroma_int,format=yuv420p";
  const codec = ["-c:v", "libx264", "-preset", "veryfast", "-crf", String(quality), "-threads", "1"];
  const tags = [
    "-colorspace",
    "bt709",
    "-color_primaries",
    "bt709",
    "-color_trc",
    "bt709",
    "-color_range",
    "tv",
  ];
  const quiet = ["-hide_banner", "-loglevel", "error", "-nostdin", "-y"];
  return [
    ...quiet,
    ...input,
    "-vf",
    `${even},${colors}`,
    ...codec,
    ...tags,
    "-movflags",
    "+faststart",
    "-f",
    "mp4",
    output,
  ];
}
