/**
 * `world <what>`: makes a world model from recorded episodes, step by step, and measures how true it is.
 *
 * `collect` records episodes; `train-vae`, `train` and `train-reward` each add their part to a folder in
 * the family's published layout; `starts` adds the frames that imagined episodes begin from; `evaluate` replays recordings
 * in the world and writes what it found beside it.
 */
import { join } from "node:path";
import { z } from "zod";
import { counted } from "#metrics";
import { openDemonstrations } from "#recordings";
import { UserError } from "#registry";
import { allowTf32 } from "#tensor";
import {
  type LoopHooks,
  RecordedFrames,
  refreshSettings,
  rewardModelSettings,
  trainingOfFamily,
  trainRewardModel,
  worldTrainings,
  writeStarts,
} from "#world-training";
import type { Command, SettingTables, Subcommand } from "../command.ts";
import { type NextCommand, nextText } from "../next-commands.ts";
import { checked } from "../option-values.ts";
import { inOwnFolder } from "../own-folder.ts";
import { listenForStop, untilStopped } from "../stop-signals.ts";
import {
  evaluationOptions,
  parseWorldArguments,
  refreshOptions,
  sharedOptions,
  trainingOptions,
  type WorldArguments,
} from "./arguments.ts";
import { collectFootage, collectSubcommand } from "./collect.ts";
import { evaluate, evaluationSettings } from "./evaluate.ts";
import { progressLine } from "./progress.ts";
import { refresh } from "./refresh.ts";
import { UnfinishedTraining } from "./unfinished-training.ts";

const startsSettings = z.strictObject({
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

const parts: Readonly<Record<string, Part>> = {
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

const subcommands: Readonly<Record<string, Subcommand>> = {
  collect: collectSubcommand,
  ...parts,
  evaluate: {
    summary: "how true is it? against recordings, or against the simulator under a policy",
    usage:
      "world evaluate --world DIR (--data DIR… | --suite NAME --policy DIR) [--model-set KEY=VALUE…] [--out DIR] [--device cpu|cuda]\n" +
      "       [--seed N] [--set KEY=VALUE…]",
    details: `  --data DIR        recordings, replayed in the world
  --suite, --policy a policy acts in the dream, and the same actions are played in the simulator
  --model-set       keys of the policy's model section
  --out DIR         where report, plot and video go; default: beside the world`,
    options: evaluationOptions,
    settings: { settings: evaluationSettings },
  },
  refresh: {
    summary:
      "one round of co-evolution: learn from --data, measure on --exam, keep the world only if it is no worse",
    usage:
      "world refresh --world DIR --data DIR… --exam DIR… [--device cpu|cuda] [--steps N] [--batch N] [--lr X] [--seed N] [--set KEY=VALUE…]",
    details: `  --data DIR        old and new recordings, to learn from
  --exam DIR        episodes of the current policy, kept apart, to measure on`,
    options: refreshOptions,
    settings: { settings: refreshSettings },
  },
};

const list = Object.entries(subcommands).map(([name, { summary }]) => `  ${name.padEnd(14)}${summary}`);

export const worldCommand: Command = {
  usage: "world <what> [options]",
  details: `${list.join("\n")}\n\nreverie help world <what> says what each takes, with all its settings`,
  options: {},
  subcommands,

  async run(argv) {
    const [what = "", ...rest] = argv;
    if (what === "collect") return collectFootage(rest);
    const subcommand = Object.hasOwn(subcommands, what) ? subcommands[what] : undefined;
    if (!subcommand) throw new UserError(`world what? there are: ${Object.keys(subcommands).join(", ")}`);
    const wishes = parseWorldArguments(rest, subcommand.options);
    if ("family" in subcommand.options) await trainingOfFamily(wishes.family); // refused before anything is read
    if (what === "evaluate") return evaluate(wishes);
    if (what === "refresh") return refresh(wishes);
    await makePart(what, parts[what]!, wishes);
  },
};

async function makePart(name: string, part: Part, wishes: WorldArguments): Promise<void> {
  const isDone = await inOwnFolder(wishes.world, { what: `reverie world ${name}`, part: name }, () =>
    makeHeldPart(name, part, wishes),
  );
  if (isDone) console.log(nextText([nextPart(name, wishes)]));
}

async function makeHeldPart(name: string, { run }: Part, wishes: WorldArguments): Promise<boolean> {
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
  const isDone = await untilStopped(making, "the same command and --resume");
  if (isDone) unfinished.finish();
  return isDone;
}

/** The parts in their order, and then the question how true the world is. */
function nextPart(name: string, { data, world, family, device }: WorldArguments): NextCommand {
  const order = [...Object.keys(parts), "evaluate"];
  const next = order[order.indexOf(name) + 1]!;
  const kind = "family" in subcommands[next]!.options ? ["--family", family] : [];
  const recordings = data.flatMap((folder) => ["--data", folder]);
  const words = ["world", next, ...recordings, "--world", world, ...kind, "--device", device];
  return { words, why: subcommands[next]!.summary };
}
