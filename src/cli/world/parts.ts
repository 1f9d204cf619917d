/** The parts of a world that commands make one by one: what each takes, and how it is made or continued. */
import { join } from "node:path";
import { z } from "zod";
import { counted } from "#metrics";
import { openDemonstrations } from "#recordings";
import { allowTf32 } from "#tensor";
import {
  type LoopHooks,
  RecordedFrames,
  rewardModelSettings,
  trainingOfFamily,
  trainRewardModel,
  worldTrainings,
  writeStarts,
} from "#world-training";
import type { SettingTables, Subcommand } from "../command.ts";
import { checked } from "../option-values.ts";
import { listenForStop, untilStopped } from "../stop-signals.ts";
import { sharedOptions, trainingOptions, type WorldArguments } from "./arguments.ts";
import { progressLine } from "./progress.ts";
import { UnfinishedTraining } from "./unfinished-training.ts";

export const startsSettings = z.strictObject({
  count: z.int().positive().default(192).describe("first frames of episodes"),
  keyframes: z.int().min(0).default(0).describe("starts in the middle of successful episodes"),
  before_success: z.int().positive().default(8).describe("frames between a keyframe start and the success"),
});

type Step = (wishes: WorldArguments, frames: RecordedFrames, hooks: LoopHooks) => Promise<void>;

/** The autoencoder or the denoiser, as the family trains it. */
const familyStep =
  (part: "autoencoder" | "denoiser"): Step =>
  async ({ family, settings: given, world }, frames, hooks) => {
    const { settings, train } = (await trainingOfFamily(family))[part];
    await train(frames, checked(settings, given), world, hooks);
  };

/** What each family lets one set. */
const familySettings = (part: "autoencoder" | "denoiser") => async (): Promise<SettingTables> => {
  const tables = worldTrainings.names().map(async (family) => {
    const { settings } = (await worldTrainings.get(family))[part];
    return [`settings with --family ${family}`, settings] as const;
  });
  return Object.fromEntries(await Promise.all(tables));
};

const trainingUsage =
  "--data DIR… --world DIR [--family NAME] [--device cpu|cuda] [--steps N] [--batch N] [--lr X] [--seed N]\n" +
  "       [--minutes M] [--set KEY=VALUE…] [--resume]";
const trainingDetails = `  --data DIR        recordings of reverie world collect; may be given several times
  --world DIR       the folder that gets this part
  --family NAME     ${worldTrainings.names().join(", ")}; a reward model is the same for all
  --minutes M       ends the training then, whatever its steps
  --resume          goes on from where this part's training was interrupted
  --steps, --batch, --lr, --seed, --set KEY=VALUE      settings, see below`;

interface Part extends Subcommand {
  readonly run: Step;
}

const trainingPart = (name: string, part: Pick<Part, "summary" | "run" | "settings">): Part => ({
  usage: `world ${name} ${trainingUsage}`,
  details: trainingDetails,
  options: trainingOptions,
  ...part,
});

/** In the order in which a world needs them. */
export const parts: Readonly<Record<string, Part>> = {
  "train-vae": trainingPart("train-vae", {
    summary: "the autoencoder, first",
    settings: familySettings("autoencoder"),
    run: familyStep("autoencoder"),
  }),
  train: trainingPart("train", {
    summary: "the denoiser that imagines; needs the autoencoder",
    settings: familySettings("denoiser"),
    run: familyStep("denoiser"),
  }),
  "train-reward": trainingPart("train-reward", {
    summary: "the reward model, which judges success; needs the autoencoder",
    settings: { settings: rewardModelSettings },
    run: ({ settings, world }, frames, hooks) =>
      trainRewardModel(frames, checked(rewardModelSettings, settings), world, hooks),
  }),
  starts: {
    summary: "the frames that imagined episodes begin from",
    usage: "world starts --data DIR… --world DIR [--device cpu|cuda] [--set KEY=VALUE…]",
    options: sharedOptions,
    settings: { settings: startsSettings },
    run: async ({ settings, world }, frames) => {
      const { plain, keyframes } = writeStarts(frames, world, checked(startsSettings, settings));
      console.log(
        `${counted(plain, "start")} and ${counted(keyframes, "keyframe start")} in ${join(world, "dataset")}`,
      );
    },
  },
};

/** Makes one part, or goes on making it. False: somebody stopped it, and was told how it goes on. */
export async function makePart(name: string, wishes: WorldArguments, goOn: string): Promise<boolean> {
  const { run } = parts[name]!;
  const unfinished = new UnfinishedTraining(wishes.world, name);
  if (!wishes.resume) unfinished.requireNone();
  if (wishes.device !== "cpu") allowTf32(true);
  const frames = new RecordedFrames(wishes.data.map(openDemonstrations), wishes.device);
  console.log(
    `${counted(frames.episodes.length, "episode")}, ${counted(frames.count, "frame")} of ${frames.size.join(" × ")}`,
  );
  if (wishes.resume) unfinished.takeUp((line) => console.log(line));
  const making = run(wishes, frames, {
    resumeFile: unfinished.path,
    saveEvery: 2000,
    reportEvery: wishes.device === "cpu" ? 10 : 100,
    timeLimit: wishes.timeLimit,
    onProgress: progressLine(name),
    say: (line) => console.log(line),
    listenForStop,
  });
  const isDone = await untilStopped(making, goOn);
  if (isDone) unfinished.finish();
  return isDone;
}
