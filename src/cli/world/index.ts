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
  autoencoderSettings,
  denoiserSettings,
  evacAutoencoderSettings,
  evacDenoiserSettings,
  judgeSettings,
  type LoopHooks,
  RecordedFrames,
  refreshSettings,
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
} from "#world-training";
import type { Command, Subcommand } from "../command.ts";
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

type Step<W = WorldArguments> = (wishes: W, frames: RecordedFrames, hooks: LoopHooks) => Promise<void>;
type Course = {
  readonly settings: z.ZodType;
  readonly run: Step<Pick<WorldArguments, "settings" | "world">>;
};

/** A training with settings of its own. */
const training = <S extends z.ZodType>(
  settings: S,
  train: (frames: RecordedFrames, settings: z.infer<S>, world: string, hooks: LoopHooks) => Promise<void>,
): Course => ({
  settings,
  run: ({ settings: given, world }, frames, hooks) => train(frames, checked(settings, given), world, hooks),
});

const families: Readonly<Record<WorldArguments["family"], { autoencoder: Course; denoiser: Course }>> = {
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

const settingsOf = (part: "autoencoder" | "denoiser"): Record<string, z.ZodType> =>
  Object.fromEntries(
    Object.entries(families).map(([family, parts]) => [
      `settings with --family ${family}`,
      parts[part].settings,
    ]),
  );

const judge = training(judgeSettings, trainJudge);

const trainingUsage =
  "--data DIR… --world DIR [--family opensora|wan|evac] [--device cpu|cuda] [--steps N] [--batch N] [--lr X] [--seed N]\n" +
  "       [--minutes M] [--set KEY=VALUE…] [--resume]";
const trainingDetails = `  --data DIR        recordings of reverie world collect; may be given several times
  --world DIR       the folder that gets this part
  --family NAME     opensora, wan or evac; a judge is the same for all
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
    settings: settingsOf("autoencoder"),
    run: ({ family, ...wishes }, frames, hooks) => families[family].autoencoder.run(wishes, frames, hooks),
  }),
  train: trainingPart("train", {
    summary: "the denoiser that imagines; needs the autoencoder",
    settings: settingsOf("denoiser"),
    run: ({ family, ...wishes }, frames, hooks) => families[family].denoiser.run(wishes, frames, hooks),
  }),
  "train-reward": trainingPart("train-reward", {
    summary: "the judge of success; needs the autoencoder",
    settings: { settings: judge.settings },
    run: judge.run,
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
