/**
 * The loop around a network's training: steps, progress, and a file to go on from.
 *
 * What a step draws depends on the seed and the step alone, so that a resumed run takes the same steps as one that was
 * never interrupted. A time limit ends a run early with its schedule complete; such a run is not repeatable to the bit.
 */

import { existsSync } from "node:fs";
import { readSafetensors, writeSafetensors } from "#formats";
import { pairSeed, xorshift32 } from "#random";
import { UserError } from "#registry";
import { type Device, findNotFinite, Generator, scope } from "#tensor";
import type { Lesson, WeightTraining } from "./weight-training.ts";

export interface StepProgress {
  readonly step: number;
  readonly steps: number;
  readonly loss: number;
  readonly gradNorm: number;
  readonly seconds: number; // since this process began to take steps
  readonly stepsPerSecond: number; // since the last report
}

export interface LoopHooks {
  readonly reportEvery?: number;
  readonly onProgress?: (progress: StepProgress) => void;
  /** What a person may want to know besides. */
  readonly say?: (line: string) => void;
  /** Written every `saveEvery` steps, and read at the start where it exists. */
  readonly resumeFile?: string;
  readonly saveEvery?: number;
  /** Seconds after which training ends, whatever the steps. */
  readonly timeLimit?: number | undefined;
  /** Called when steps begin: from then on the training is asked after each step whether it is to stop. Gives a question and its end. */
  readonly listenForStop?: (() => StopListener) | undefined;
}

export interface StopListener {
  readonly isAsked: () => boolean;
  readonly end: () => void;
}

/** Somebody asked a training to stop: what it goes on from is on disk, and what it would have made is not. */
export class TrainingStopped extends Error {
  override name = "TrainingStopped";
  readonly step: number;

  constructor(step: number, steps: number) {
    super(`stopped after ${step} of ${steps} steps`);
    this.step = step;
  }
}

/** The random streams of one step: choices in JavaScript, indices on the host, noise on the device. */
export interface StepRandom {
  readonly numbers: () => number; // in [0, 1)
  readonly host: Generator;
  readonly device: Generator;
}

/** Draws what a step learns from. */
export type Teacher<L> = (random: StepRandom) => L;

/** A network's training and where its lessons come from. */
export interface Course<L extends Lesson<L>> {
  readonly training: WeightTraining<L>;
  readonly teacher: Teacher<L>;
}

export async function trainingLoop<L extends Lesson<L>>(
  training: WeightTraining<L>,
  device: Device,
  draw: Teacher<L>,
  hooks: LoopHooks = {},
): Promise<void> {
  const listener = hooks.listenForStop?.();
  try {
    await takeSteps(training, device, draw, hooks, listener);
  } finally {
    listener?.end();
  }
}

async function takeSteps<L extends Lesson<L>>(
  training: WeightTraining<L>,
  device: Device,
  draw: Teacher<L>,
  { reportEvery = 20, onProgress, resumeFile, saveEvery = 500, timeLimit }: LoopHooks,
  listener: StopListener | undefined,
): Promise<void> {
  const { steps, seed } = training.settings;
  if (resumeFile !== undefined && existsSync(resumeFile)) scope(() => takeUp(training, resumeFile));
  const began = performance.now();
  let mark = { step: training.step, at: began };
  const passed = (): number => (performance.now() - began) / 1000;
  while (training.step < steps && passed() < (timeLimit ?? Number.POSITIVE_INFINITY)) {
    const hurry = timeLimit === undefined ? 0 : passed() / timeLimit;
    const { loss, gradNorm } = scope(() =>
      withStreams(seed, training.step, device, (random) => training.take(draw(random), hurry)),
    );
    const { step } = training;
    if (step % reportEvery === 0 || step === steps) {
      const now = performance.now();
      const progress = {
        step,
        steps,
        loss: Number(loss.item()),
        gradNorm: Number(gradNorm.item()),
        seconds: passed(),
        stepsPerSecond: ((step - mark.step) * 1000) / (now - mark.at),
      };
      mark = { step, at: now };
      if (!Number.isFinite(progress.loss)) {
        throw new UserError(`the loss is ${progress.loss} at step ${step}: lower lr, or look at the data`);
      }
      onProgress?.(progress);
    }
    loss.dispose();
    gradNorm.dispose();
    if (listener || step % 8 === 0) await new Promise(setImmediate); // signals and timers live on
    const isAsked = step < steps && listener?.isAsked() === true;
    if (resumeFile !== undefined && (step % saveEvery === 0 || step === steps || isAsked)) {
      requireFinite(training, resumeFile);
      writeSafetensors(resumeFile, training.state());
    }
    if (isAsked) throw new TrainingStopped(step, steps);
  }
  requireFinite(training, resumeFile); // the caller writes the network next
}

/** Goes on from a file, if it is of this network. */
function takeUp<L extends Lesson<L>>(training: WeightTraining<L>, path: string): void {
  const stored = readSafetensors(path);
  for (const [name, { shape }] of training.state()) {
    const found = stored.get(name)?.shape;
    if (String(found) === String(shape)) continue;
    throw new UserError(
      `${path} is of another network: ${name} is ${found ? `[${found}]` : "missing"} there, and [${shape}] with these settings; ` +
        "go on with the family and the sizes that it began with, or move it aside and begin anew",
    );
  }
  training.loadState(stored);
}

/** Before anything is written: what is not a number would take the place of weights that are good. */
function requireFinite<L extends Lesson<L>>(
  training: WeightTraining<L>,
  resumeFile: string | undefined,
): void {
  const found = scope(() => findNotFinite(training.state()));
  if (!found) return;
  const kept = resumeFile !== undefined && existsSync(resumeFile) ? `; ${resumeFile} is still good` : "";
  throw new UserError(
    `training has left ${found.what} in ${found.name} by step ${training.step}: nothing is written${kept}; lower lr, or look at the data`,
  );
}

/** Runs `body` with the random streams of one step. */
export function withStreams<T>(seed: number, step: number, device: Device, body: (r: StepRandom) => T): T {
  const own = pairSeed(seed, step);
  const [host, onDevice] = [new Generator(own), new Generator(own, device)];
  try {
    return body({ numbers: xorshift32(own), host, device: onDevice });
  } finally {
    host.dispose();
    onDevice.dispose();
  }
}
