/**
 * The loop around a network's training: steps, progress, and a file to go on from.
 *
 * What a step draws depends on the seed and the step alone, so that a resumed run takes the same steps as one that was
 * never interrupted.
 */
import { existsSync } from "node:fs";
import { readSafetensors, writeSafetensors } from "#formats";
import { UserError } from "#registry";
import { type Device, Generator, type Tensor } from "#tensor";
import type { WeightTraining } from "./weight-training.ts";

export interface StepProgress {
  readonly step: number;
  readonly steps: number;
  readonly loss: number;
  readonly gradNorm: number;
  readonly seconds: number; // since this process began
}

export interface LoopHooks {
  readonly reportEvery?: number;
  readonly onProgress?: (progress: StepProgress) => void;
  /** Written every `saveEvery` steps, and read at the start where it exists. */
  readonly resumeFile?: string;
  readonly saveEvery?: number;
}

/** The random streams of one step: choices in JavaScript, indices on the host, noise on the device. */
export interface StepRandom {
  readonly numbers: () => number; // in [0, 1)
  readonly host: Generator;
  readonly device: Generator;
}

export async function trainingLoop(
  training: WeightTraining,
  device: Device,
  lossOf: (random: StepRandom) => Tensor,
  { reportEvery = 20, onProgress, resumeFile, saveEvery = 500 }: LoopHooks = {},
): Promise<void> {
  const { steps, seed } = training.settings;
  const began = performance.now();
  if (resumeFile !== undefined && existsSync(resumeFile)) training.loadState(readSafetensors(resumeFile));
  while (training.step < steps) {
    const { loss, gradNorm } = takeStep(training, device, seed, lossOf);
    const { step } = training;
    if (step % reportEvery === 0 || step === steps) {
      const seconds = (performance.now() - began) / 1000;
      const progress = { step, steps, loss: Number(loss.item()), gradNorm: Number(gradNorm.item()), seconds };
      if (!Number.isFinite(progress.loss)) {
        throw new UserError(`the loss is ${progress.loss} at step ${step}: lower lr, or look at the data`);
      }
      onProgress?.(progress);
    }
    loss.dispose();
    gradNorm.dispose();
    if (resumeFile !== undefined && (step % saveEvery === 0 || step === steps)) {
      writeSafetensors(resumeFile, training.state());
    }
    await new Promise(setImmediate); // signals and timers live on
  }
}

function takeStep(
  training: WeightTraining,
  device: Device,
  seed: number,
  lossOf: (random: StepRandom) => Tensor,
) {
  const own = stepSeed(seed, training.step);
  const [host, onDevice] = [new Generator(own), new Generator(own, device)];
  try {
    return training.take(() => lossOf({ numbers: randomNumbers(own), host, device: onDevice }));
  } finally {
    host.dispose();
    onDevice.dispose();
  }
}

const stepSeed = (seed: number, step: number): number =>
  (Math.imul(seed + 1, 0x9e3779b1) ^ Math.imul(step + 1, 0x85ebca6b)) >>> 0;

/** A repeatable stream of numbers in [0, 1) (xorshift32). */
export function randomNumbers(seed: number): () => number {
  let state = (seed ^ 0x9e3779b9) >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state / 2 ** 32;
  };
}
