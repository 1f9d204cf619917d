/**
 * `sft`: a policy learns from demonstrations, with checkpoints to choose from and to go on from.
 *
 * OUT/base is the checkpoint that training began with, OUT/step_000075 and so on the ones it passed, and
 * OUT/resume.safetensors what --resume needs. `--new mini` makes a small untrained policy first, with a tokenizer and
 * statistics of its own, from the demonstrations.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Demonstrations, openDemonstrations } from "#envs";
import { readJsonFile, readSafetensors, writeJsonFile, writeSafetensors } from "#formats";
import { counted, JsonlWriter } from "#metrics";
import { loadPolicy, type Policy } from "#policies";
import { UserError } from "#registry";
import { allowTf32, type DType, manualSeed } from "#tensor";
import {
  labelDemonstrations,
  readTrainedOn,
  SftRun,
  sftSettings,
  type TrainedOn,
  TrainingStopped,
  trainedOnDemonstrations,
  writeTrainedOn,
} from "#training";
import type { Command } from "../command.ts";
import { type NextCommand, nextText } from "../next-commands.ts";
import { emptyFolder } from "../option-values.ts";
import { listenForStop, untilStopped } from "../stop-signals.ts";
import { configNames } from "../train/arguments.ts";
import { parseSftArguments, type SftArguments, sftOptions, sftUsage } from "./arguments.ts";
import { makeBase } from "./starting-checkpoint.ts";

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
    if (wishes.resume) requireState(wishes.out);
    else emptyFolder(wishes.out); // checkpoints of two trainings would stand side by side
    const { policy, model } = await openPolicy(wishes, sets);
    const frames = labelDemonstrations(policy, sets, { onProgress: progressLine("frames prepared") });
    const run = new SftRun(policy, frames, wishes.settings);
    if (wishes.resume) say(`going on from step ${restore(run, wishes.out)}`);
    const before = readTrainedOn(String(model.model_path));
    const training = train(run, wishes, { model, trainedOn: trainedOnDemonstrations(before, sets) });
    const isDone = await untilStopped(training, "the same command and --resume");
    run.dispose();
    policy.dispose();
    if (isDone) say(nextText(nextCommands(wishes, sets)));
  },
};

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
): Promise<{ policy: Policy; model: Model }> {
  const { device, precision, settings, out } = wishes;
  manualSeed(settings.seed);
  if (device.startsWith("cuda")) allowTf32(true);
  const described = join(out, "model.json");
  const model = wishes.resume && existsSync(described) ? readJsonFile(described) : makeBase(wishes, sets);
  writeJsonFile(described, model);
  const from = wishes.resume ? { ...model, model_path: latestCheckpoint(out) } : model;
  const policy = await loadPolicy(
    { ...from, precision },
    { device, seed: settings.seed, actionSpec: { size: 7, gripper: "minus_one_opens" } },
  );
  const count = policy.module.parameters().reduce((sum, weight) => sum + weight.numel, 0);
  say(`${(count / 1e6).toFixed(2)} million parameters on ${device}, ${precision}`);
  return { policy, model };
}

/** Where --resume finds weights in full precision. */
const latestCheckpoint = (out: string): string => join(out, "resume");
const statePath = (out: string): string => join(out, "resume", "training.safetensors");

function requireState(out: string): void {
  if (!existsSync(statePath(out)))
    throw new UserError(`${out} has nothing to resume from: no ${statePath(out)}; begin without --resume`);
}

function restore(run: SftRun, out: string): number {
  run.loadState(readSafetensors(statePath(out)));
  return run.step;
}

/** What is said of the checkpoints that a training saves. */
interface Origin {
  readonly model: Model;
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
        await saveCheckpoint(run, step, wishes, origin);
      if (isAsked) throw new TrainingStopped(step, settings.steps);
    },
  });
  await training.finally(listener.end);
  await log.close();
}

async function saveCheckpoint(
  run: SftRun,
  step: number,
  { out, storedAs }: SftArguments,
  { model, trainedOn }: Origin,
): Promise<void> {
  const folder = checkpointFolder(out, step);
  await run.policy.save(folder, storedAs === undefined ? {} : { dtype: storedAs as DType });
  await run.policy.save(latestCheckpoint(out));
  for (const saved of [folder, latestCheckpoint(out)]) writeTrainedOn(saved, trainedOn);
  writeSafetensors(statePath(out), run.state());
  say(`saved ${folder} (model_type ${String(model.model_type)})`);
}
