/**
 * `world <what>`: makes a world model from recorded episodes, step by step, and measures how true it is.
 *
 * `collect` records episodes; `train-vae`, `train` and `train-reward` each add their part to a folder in
 * the family's published layout; `starts` adds the frames that imagined episodes begin from; `evaluate` replays recordings
 * in the world and writes what it found beside it.
 */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { openDemonstrations } from "#envs";
import { UserError } from "#registry";
import { allowTf32 } from "#tensor";
import {
  autoencoderSettings,
  denoiserSettings,
  evacAutoencoderSettings,
  evacDenoiserSettings,
  judgeSettings,
  type LoopHooks,
  RecordedFrames,
  trainAutoencoder,
  trainDenoiser,
  trainEvacAutoencoder,
  trainEvacDenoiser,
  trainJudge,
  trainWanAutoencoder,
  trainWanDenoiser,
  wanAutoencoderSettings,
  wanDenoiserSettings,
  writeStarts,
} from "#training";
import type { Command } from "../command.ts";
import { checked } from "../option-values.ts";
import { parseWorldArguments, sharedUsage, type WorldArguments } from "./arguments.ts";
import { collectFootage, collectUsage } from "./collect.ts";
import { evaluate } from "./evaluate.ts";
import { progressLine } from "./progress.ts";
import { refresh } from "./refresh.ts";

const startsSettings = z.strictObject({
  count: z.int().positive().default(192),
  keyframes: z.int().min(0).default(0),
  before_success: z.int().positive().default(8),
});

type Step<W = WorldArguments> = (wishes: W, frames: RecordedFrames, hooks: LoopHooks) => Promise<void>;
type Training = Step<Pick<WorldArguments, "settings" | "world">>;

/** A training with settings of its own. */
const training =
  <S extends z.ZodType>(
    schema: S,
    train: (frames: RecordedFrames, settings: z.infer<S>, world: string, hooks: LoopHooks) => Promise<void>,
  ): Training =>
  ({ settings, world }, frames, hooks) =>
    train(frames, checked(schema, settings), world, hooks);

const families: Readonly<Record<WorldArguments["family"], { autoencoder: Training; denoiser: Training }>> = {
  opensora: {
    autoencoder: training(autoencoderSettings, trainAutoencoder),
    denoiser: training(denoiserSettings, trainDenoiser),
  },
  wan: {
    autoencoder: training(wanAutoencoderSettings, trainWanAutoencoder),
    denoiser: training(wanDenoiserSettings, trainWanDenoiser),
  },
  evac: {
    autoencoder: training(evacAutoencoderSettings, trainEvacAutoencoder),
    denoiser: training(evacDenoiserSettings, trainEvacDenoiser),
  },
};

const steps: Readonly<Record<string, { readonly summary: string; readonly run: Step }>> = {
  "train-vae": {
    summary: "the autoencoder, first",
    run: ({ family, ...wishes }, frames, hooks) => families[family].autoencoder(wishes, frames, hooks),
  },
  train: {
    summary: "the denoiser that imagines; needs the autoencoder",
    run: ({ family, ...wishes }, frames, hooks) => families[family].denoiser(wishes, frames, hooks),
  },
  "train-reward": {
    summary: "the judge of success; needs the autoencoder",
    run: ({ settings, world }, frames, hooks) =>
      trainJudge(frames, checked(judgeSettings, settings), world, hooks),
  },
  starts: {
    summary: "first frames for imagined episodes (--set count=192), and keyframe starts (--set keyframes=0)",
    run: async ({ settings, world }, frames) => {
      const { plain, keyframes } = writeStarts(frames, world, checked(startsSettings, settings));
      console.log(`${plain} starts and ${keyframes} keyframe starts in ${join(world, "dataset")}`);
    },
  },
};

const list = [
  ...Object.entries(steps).map(([name, { summary }]) => `  ${name.padEnd(14)}${summary}`),
  "  evaluate      how true is it? against recordings (--data), or --suite NAME --policy DIR: a policy acts in the dream,",
  "                and the same actions are played in the simulator; --out DIR for report, plot and video",
  "  refresh       one round of co-evolution: learn from --data, measure on --exam, keep the world only if it is no worse",
];

export const worldCommand: Command = {
  usage: `${collectUsage}\n  world <what> ${sharedUsage}\n\n${list.join("\n")}`,

  async run(argv) {
    const [what = "", ...rest] = argv;
    if (what === "collect") return collectFootage(rest);
    if (what === "evaluate") return evaluate(parseWorldArguments(rest));
    if (what === "refresh") return refresh(parseWorldArguments(rest));
    const step = Object.hasOwn(steps, what) ? steps[what] : undefined;
    if (!step)
      throw new UserError(
        `world what? there are: collect, ${Object.keys(steps).join(", ")}, evaluate, refresh`,
      );
    const wishes = parseWorldArguments(rest);
    mkdirSync(wishes.world, { recursive: true });
    if (wishes.device !== "cpu") allowTf32(true);
    const frames = new RecordedFrames(wishes.data.map(openDemonstrations), wishes.device);
    console.log(`${frames.episodes.length} episodes, ${frames.count} frames of ${frames.size.join(" × ")}`);
    const resumeFile = join(wishes.world, `${what}.resume.safetensors`);
    if (!wishes.resume) rmSync(resumeFile, { force: true });
    await step.run(wishes, frames, {
      resumeFile,
      saveEvery: 2000,
      reportEvery: wishes.device === "cpu" ? 10 : 100,
      timeLimit: wishes.timeLimit,
      onProgress: progressLine(what),
      say: (line) => console.log(line),
    });
  },
};
