/** A claim as the commands that answer it: every training, and every evaluation of what it began from and of what it became. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { armsOf, type Claim, runName } from "#claims";
import type { CheckedConfig } from "#config";
import { UserError } from "#registry";
import { checkpointRoot, readRun, settingsDigest } from "#training";
import { evalCommand } from "../eval.ts";
import { parseRunArguments, readingOf } from "../run/arguments.ts";
import { trainCommand } from "../train/index.ts";

export interface Part {
  /** `true_0`; of an evaluation `true_0_fresh`. */
  readonly id: string;
  readonly work: "train" | "eval";
  /** After `reverie`. */
  readonly words: readonly string[];
  readonly folder: string;
  /** Of all settings that make a difference: results of other settings are not taken for these. */
  readonly digest: string;
  /** Of the run that this part makes or evaluates; "base" for what all began from. */
  readonly run: string;
  readonly evaluation?: string;
  /** Of a training. */
  readonly checkpoints?: string;
  /** Seconds that a training may take to stop when it is told to. */
  readonly patience: number;
}

/** One run of an arm, or where all began. */
export interface PlannedRun {
  readonly name: string;
  readonly kind: string;
  readonly seed: number | null;
}

export interface ClaimPlan {
  readonly name: string;
  readonly out: string;
  readonly claim: Claim;
  readonly runs: readonly PlannedRun[];
  readonly parts: readonly Part[];
  readonly warnings: readonly string[];
}

export interface PlanOptions {
  readonly name: string;
  readonly out: string;
  /** Refuse when a checkpoint or a dataset is missing; a plan only warns. */
  readonly requireFiles: boolean;
}

export const logOf = ({ folder }: Part): string => `${folder}.log`;

/** Every configuration is read and checked; what is wrong with any of them is said at once. */
export async function planClaim(claim: Claim, options: PlanOptions): Promise<ClaimPlan> {
  const reader = new Reader(options.requireFiles);
  const base: PlannedRun = { name: "base", kind: "base", seed: null };
  const trainings: (Part & { readonly checked: CheckedConfig })[] = [];
  const runs: PlannedRun[] = [base];
  for (const arm of armsOf(claim))
    for (const seed of arm.seeds) {
      const training = await planTraining(claim, arm, seed, options.out, reader);
      if (!training) break; // the other seeds would be refused for the same reasons
      trainings.push(training);
      runs.push({ name: arm.name, kind: arm.kind, seed });
    }
  const evaluations: Part[] = [];
  const began = trainings[0]?.checked.config.actor.model.model_path;
  for (const name of Object.keys(claim.evaluations)) {
    const digest = await evaluationDigest(claim, name, began, reader);
    const from = (model: string | undefined, run: string, of = ""): Part =>
      planEvaluation(claim, { name, run, model, out: options.out, digest: digestOf(digest, of) });
    evaluations.push(from(began, "base"));
    evaluations.push(
      ...trainings.map(({ run, checkpoints = "", digest: own }) =>
        from(join(checkpoints, "latest"), run, own),
      ),
    );
  }
  reader.refuse(options.name);
  const parts = [...trainings.map(({ checked: _, ...part }) => part), ...evaluations];
  return { name: options.name, out: options.out, claim, runs, parts, warnings: reader.warnings };
}

async function planTraining(
  claim: Claim,
  arm: ReturnType<typeof armsOf>[number],
  seed: number,
  out: string,
  reader: Reader,
) {
  const run = runName(arm.name, seed);
  const folder = join(out, run);
  const asked = ["train", arm.config, ...arm.overrides, `runner.seed=${seed}`, "runner.resume_dir=auto"];
  const words = [...asked, ...deviceWords(claim), "--out", folder];
  const checked = await reader.read(run, words);
  if (!checked) return undefined;
  const { save_interval, stop_timeout } = checked.config.runner;
  if (save_interval <= 0)
    reader.blame(run, "runner.save_interval is 0 or less: there would be no checkpoint to evaluate");
  return {
    ...{ id: run, work: "train" as const, words, folder, run, checked },
    digest: settingsDigest(checked.config),
    checkpoints: checkpointRoot(checked),
    patience: 2 * stop_timeout + 60, // it ends itself after stop_timeout without progress
  };
}

interface EvaluationWish {
  readonly name: string;
  readonly run: string;
  readonly model: string | undefined;
  readonly out: string;
  readonly digest: string;
}

function planEvaluation(claim: Claim, { name, run, model, out, digest }: EvaluationWish): Part {
  const id = `${run}_${name}`;
  const folder = join(out, "eval", id);
  const { cores, at_once } = claim.limits;
  const words = [
    ...evaluationWords(claim, name, model),
    ...(cores === undefined ? [] : [`env.eval.env_workers=${Math.max(1, Math.floor(cores / at_once))}`]),
    ...deviceWords(claim),
    "--out",
    folder,
  ];
  return { id, work: "eval", words, folder, digest, run, evaluation: name, patience: 60 };
}

function evaluationWords(claim: Claim, name: string, model: string | undefined): string[] {
  const { config = claim.config, starts, per_task, greedy, seed, overrides } = claim.evaluations[name]!;
  return [
    "eval",
    config,
    ...overrides,
    ...(seed === undefined ? [] : [`runner.seed=${seed}`]),
    ...(starts === "stored" ? [] : ["--starts", starts]),
    ...(per_task === undefined ? [] : ["--starts-per-task", String(per_task)]),
    ...(greedy ? ["--greedy"] : []),
    ...(model === undefined ? [] : ["--model", model]),
  ];
}

async function evaluationDigest(
  claim: Claim,
  name: string,
  model: string | undefined,
  reader: Reader,
): Promise<string> {
  const checked = await reader.read(`evaluation ${name}`, [
    ...evaluationWords(claim, name, model),
    ...deviceWords(claim),
  ]);
  return checked ? settingsDigest(checked.config) : "";
}

const deviceWords = ({ limits: { device } }: Claim): string[] =>
  device === undefined ? [] : ["--device", device];

const digestOf = (...texts: readonly string[]): string =>
  createHash("sha256").update(texts.join("\n")).digest("hex");

/** Reads configurations as the commands will, and collects what is wrong with them. */
class Reader {
  readonly #requireFiles: boolean;
  readonly #faults = new Map<string, string>();
  readonly #warnings = new Set<string>();

  constructor(requireFiles: boolean) {
    this.#requireFiles = requireFiles;
  }

  get warnings(): string[] {
    return [...this.#warnings];
  }

  blame(what: string, message: string): void {
    if (![...this.#faults.values()].includes(message)) this.#faults.set(what, message);
  }

  async read(what: string, [work, ...words]: readonly string[]): Promise<CheckedConfig | undefined> {
    // A plan for another machine: whether there is a GPU here is asked when the runs start.
    const at = words.indexOf("cuda");
    const asked = words[at - 1] === "--device" ? words.toSpliced(at - 1, 2) : words;
    try {
      const wishes = parseRunArguments([...asked], work === "train" ? trainCommand : evalCommand);
      const reading = readingOf(wishes);
      const only = work === "eval" ? ["runner.only_eval=True"] : [];
      const checked = await readRun(wishes.config, {
        ...reading,
        overrides: [...only, ...(reading.overrides ?? [])],
        requireFiles: this.#requireFiles,
      });
      for (const { severity, path, message } of checked.problems)
        if (severity === "warning") this.#warnings.add(`${path}: ${message}`);
      return checked;
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      this.blame(what, error.message);
      return undefined;
    }
  }

  refuse(name: string): void {
    if (this.#faults.size === 0) return;
    const lines = [...this.#faults].map(([what, message]) => `${what}: ${message}`);
    throw new UserError(`the commands of claim ${name} cannot be run:\n${lines.join("\n")}`);
  }
}
