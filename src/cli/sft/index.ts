/**
 * `sft`: a policy learns from demonstrations, with checkpoints to choose from and to go on from.
 *
 * OUT/base is the checkpoint that training began with, OUT/step_000075 and so on the ones it passed, and
 * OUT/resume what --resume needs. `--new mini` makes a small untrained policy first, with a tokenizer and
 * statistics of its own, from the demonstrations.
 */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { handActions } from "#data";
import { readJsonFile, writeJsonFile } from "#formats";
import { counted, JsonlWriter } from "#metrics";
import { loadPolicy, type Policy } from "#policies";
import { type Demonstrations, infoPath, openDemonstrations } from "#recordings";
import {
  findResumePoint,
  labelDemonstrations,
  type ResumePoint,
  requireFiniteRun,
  restoreRun,
  SftRun,
  settingsToGoOnWith,
  sftSettings,
  writeResumePoint,
} from "#sft";
import { allowTf32, type DType, manualSeed } from "#tensor";
import {
  readTrainedOn,
  type Settings,
  type TrainedOn,
  trainedOnDemonstrations,
  writeFolder,
  writeTrainedOn,
} from "#training";
import { TrainingStopped } from "#world-training";
import type { Command } from "../command.ts";
import { type NextCommand, nextText } from "../next-commands.ts";
import { inEmptyFolder, inOwnFolder } from "../own-folder.ts";
import { configNames } from "../run/arguments.ts";
import { listenForStop, untilStopped } from "../stop-signals.ts";
import { parseSftArguments, type SftArguments, sftOptions, sftUsage } from "./arguments.ts";
import { handsOfSets, makeBase } from "./starting-checkpoint.ts";

export const sftCommand: Command = {
  usage: sftUsage,
  options: sftOptions,
  settings: { "settings of the training": sftSettings },
  details: `  --data DIR        a folder of reverie collect; may be given several times
  --new mini        begins with a small untrained OpenVLA-OFT; --model DIR with a checkpoint
  --out DIR         gets base/, step_000075/ … in the published layout, and what --resume needs
  --steps, --batch, --lr, --seed, --set KEY=VALUE      settings of the training, see below
  --checkpoint-every 75, --report-every 10             steps between checkpoints, between lines
  --resume          goes on from OUT/resume;  --device cpu|cuda
  --model-set KEY=VALUE                                keys of the model section, sizes of a new model
  --store bfloat16  type of the weights on disk; same: that of training. --precision fp32: type in training

  reverie collect tabletop_object && reverie sft --data demonstrations/tabletop_object --new mini --out runs/mini`,

  async run(argv) {
    const wishes = parseSftArguments(argv);
    const sets = wishes.data.map(openDemonstrations);
    say(describeSets(sets));
    if (!wishes.resume) return inEmptyFolder(wishes.out, "reverie sft", () => fineTune(wishes, sets)); // two trainings would stand side by side
    findResumePoint(wishes.out, () => {}); // before a folder is made for the lock
    return inOwnFolder(wishes.out, { what: "reverie sft" }, () =>
      fineTune(wishes, sets, findResumePoint(wishes.out, say)),
    );
  },
};

async function fineTune(
  wishes: SftArguments,
  sets: readonly Demonstrations[],
  point?: ResumePoint,
): Promise<void> {
  const given = describeWishes(wishes, sets);
  const settings = point ? settingsToGoOnWith(point, given, say) : given;
  const { policy, model } = await openPolicy(wishes, sets, point);
  const frames = labelDemonstrations(policy, sets, { onProgress: progressLine("frames prepared") });
  const run = new SftRun(policy, frames, wishes.settings);
  if (point) {
    restoreRun(run, point);
    say(`going on from step ${run.step}`);
  }
  const before = readTrainedOn(String(model.model_path));
  const training = train(run, wishes, { model, settings, trainedOn: trainedOnDemonstrations(before, sets) });
  const isDone = await untilStopped(training, "the same command and --resume");
  run.dispose();
  policy.dispose();
  if (isDone) say(nextText(nextCommands(wishes, sets)));
}

/** Everything that decides what is learned, to be compared when a training goes on. */
function describeWishes(wishes: SftArguments, sets: readonly Demonstrations[]): Settings {
  const { data, settings, precision, fresh, model, modelKeys } = wishes;
  const base = fresh === undefined ? model && resolve(model) : `--new ${fresh}`;
  return {
    ...settings,
    precision,
    data: sets.map(({ episodes }, i) => dataText(data[i]!, episodes.length)),
    ...(base !== undefined && { base }),
    ...Object.fromEntries(Object.entries(modelKeys).map(([key, value]) => [`model_set.${key}`, value])),
  };
}

/** Its description says how it was made: episodes that were collected anew are others, even in the same folder. */
function dataText(folder: string, episodes: number): string {
  const hash = createHash("sha256")
    .update(readFileSync(infoPath(folder)))
    .digest("hex");
  return `${resolve(folder)} (${counted(episodes, "episode")}, ${hash.slice(0, 8)})`;
}

/** With the configuration for small policies in the suite that was learned, where there is one. */
function nextCommands({ out, settings }: SftArguments, sets: readonly Demonstrations[]): NextCommand[] {
  const suite = sets[0]?.info.suite ?? "";
  const config = configNames().find((name) => name === `${suite}_grpo_openvlaoft_mini`);
  if (config === undefined)
    return [
      { words: ["list", "configs"], why: `reverie eval CONFIG --model ${out}/step_… says how good it is` },
    ];
  const model = ["--model", checkpointFolder(out, settings.steps)];
  return [
    { words: ["eval", config, ...model], why: "how good is it?" },
    { words: ["train", config, ...model], why: "improve it with reinforcement learning" },
  ];
}

const checkpointFolder = (out: string, step: number): string =>
  join(out, `step_${String(step).padStart(6, "0")}`);

const say = (line: string): void => console.log(line);

const describeSets = (sets: readonly Demonstrations[]): string => {
  const episodes = sets.flatMap((set) => set.episodes);
  const good = episodes.filter(({ succeeded }) => succeeded).length;
  const suites = sets.map(({ info }) => info.suite).join(", ");
  return `${good} of ${counted(episodes.length, "episode")} successful (${suites})`;
};

/** Overwrites itself on a terminal; elsewhere prints the last line only. */
const progressLine =
  (what: string) =>
  (done: number, total: number): void => {
    if (process.stdout.isTTY)
      process.stdout.write(`\r${done} of ${total} ${what}${done === total ? "\n" : ""}`);
    else if (done === total) say(`${total} ${what}`);
  };

type Model = Readonly<Record<string, unknown>>;

async function openPolicy(
  wishes: SftArguments,
  sets: readonly Demonstrations[],
  point: ResumePoint | undefined,
): Promise<{ policy: Policy; model: Model }> {
  const { device, precision, settings, out } = wishes;
  manualSeed(settings.seed);
  if (device.startsWith("cuda")) allowTf32(true);
  const described = join(out, "model.json");
  const model = point && existsSync(described) ? readJsonFile(described) : await makeBase(wishes, sets);
  writeJsonFile(described, model);
  const from = point ? { ...model, model_path: point.model } : model;
  const policy = await loadPolicy(
    { ...from, precision },
    { device, seed: settings.seed, actionSpec: handActions(handsOfSets(sets)) },
  );
  const count = policy.module.parameters().reduce((sum, weight) => sum + weight.numel, 0);
  say(`${(count / 1e6).toFixed(2)} million parameters on ${device}, ${precision}`);
  return { policy, model };
}

/** What is said of the checkpoints that a training saves. */
interface Origin {
  readonly model: Model;
  readonly settings: Settings;
  readonly trainedOn: TrainedOn;
}

async function train(run: SftRun, wishes: SftArguments, origin: Origin): Promise<void> {
  const { settings, out, checkpointEvery } = wishes;
  const log = new JsonlWriter(join(out, "metrics.jsonl"), { step: run.step + 1 });
  let mark = { step: run.step, at: performance.now() };
  const listener = listenForStop();
  const training = run.train({
    reportEvery: wishes.reportEvery,
    onProgress: ({ step, loss, lr, gradNorm }) => {
      const now = performance.now();
      const rate = ((step - mark.step) * settings.batch_size) / ((now - mark.at) / 1000);
      mark = { step, at: now };
      log.write(step, {
        "sft/loss": loss,
        "sft/lr": lr,
        "sft/grad_norm": gradNorm,
        "sft/samples_per_second": rate,
      });
      say(
        `step ${step} of ${settings.steps}  loss ${loss.toFixed(4)}  lr ${lr.toExponential(1)}  ${rate.toFixed(0)} samples/s`,
      );
    },
    afterStep: async (step) => {
      const isAsked = step < settings.steps && listener.isAsked();
      if (step % checkpointEvery === 0 || step === settings.steps || isAsked)
        await saveCheckpoint(run, wishes, origin);
      if (isAsked) throw new TrainingStopped(step, settings.steps);
    },
  });
  await training.finally(listener.end);
  await log.close();
}

async function saveCheckpoint(
  run: SftRun,
  { out, storedAs }: SftArguments,
  { model, settings, trainedOn }: Origin,
): Promise<void> {
  requireFiniteRun(run, newestSaved(out));
  const folder = checkpointFolder(out, run.step);
  await writeFolder(folder, async (whole) => {
    await run.policy.save(whole, storedAs === undefined ? {} : { dtype: storedAs as DType });
    writeTrainedOn(whole, trainedOn);
  });
  await writeResumePoint(out, run, settings, trainedOn);
  say(`saved ${folder} (model_type ${String(model.model_type)})`);
}

const newestSaved = (out: string): string | undefined => {
  const name = readdirSync(out)
    .filter((each) => /^step_\d+$/.test(each))
    .sort()
    .at(-1);
  return name && join(out, name);
};
