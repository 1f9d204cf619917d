/**
 * What a checkpoint of a run holds: everything that the steps to come depend on.
 *
 *   actor/model/                 weights in the published layout: any tool that reads the family's checkpoints reads this
 *   actor/optimizer.safetensors  moments and step counts by parameter name
 *   env/<i>.safetensors          where each env stands: streams, episodes under way, last sights
 *   state.json                   steps done, seed, cursors, versions; whose it is, and the settings it was made with
 *
 * Streams for sampling, shuffling and initialization are functions of the seed and the step (random/random-stream.ts): nothing to store.
 */
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { Observation } from "#data";
import { readJsonFile, readSafetensors, writeJsonFile, writeSafetensors } from "#formats";
import { UserError } from "#registry";
import { keep, type Tensor } from "#tensor";
import type { Crew } from "../crew.ts";
import { trainedOnAfter, writeTrainedOn } from "../trained-on.ts";
import { versions } from "../versions.ts";
import { type RunOrigin, runOriginSchema } from "./lineage.ts";

const stateSchema = z.strictObject({
  format: z.literal(1),
  step: z.int().min(0),
  optimizer_steps: z.int().min(0),
  seed: z.int(),
  config: z.string(),
  slots: z.int().positive(),
  stages: z.int().positive(),
  env: z.array(z.strictObject({ plain: z.unknown(), task_descriptions: z.array(z.string()).nullable() })),
  /** Co-evolution: the training step after which the present world took over. */
  world: z.int().min(0).optional(),
  gap: z
    .strictObject({
      smallest: z.number().nullable(),
      grown: z.int().min(0),
      best: z.strictObject({ step: z.int().positive(), success: z.number() }).nullable(),
      watched: z.literal("closed_loop").optional(),
    })
    .optional(),
  /** The evaluation or the round of co-evolution that was due after the step is still to be done: the run was told to stop. */
  unfinished: z.literal(true).optional(),
  versions: z.record(z.string(), z.string()),
  /** Absent in checkpoints from before there were identities. */
  run: runOriginSchema.optional(),
  settings: z.record(z.string(), z.unknown()).optional(),
  base: z.strictObject({ path: z.string(), fingerprint: z.string() }).optional(),
});
export type CheckpointState = z.infer<typeof stateSchema>;

const modelFolder = (folder: string): string => join(folder, "actor", "model");
const optimizerFile = (folder: string): string => join(folder, "actor", "optimizer.safetensors");
const envFile = (folder: string, stage: number): string => join(folder, "env", `${stage}.safetensors`);
const stateFile = (folder: string): string => join(folder, "state.json");

/** What a checkpoint says of its run. */
export interface RunIdentity {
  readonly run: RunOrigin;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly base?: { readonly path: string; readonly fingerprint: string };
}

/** What a run must remember besides: of its world model, and of what it still owes. */
export type WorldState = Pick<CheckpointState, "world" | "gap" | "unfinished">;

export async function fillCheckpoint(
  folder: string,
  crew: Crew,
  step: number,
  more: RunIdentity & WorldState,
): Promise<void> {
  const { checked, actors, stages } = crew;
  mkdirSync(modelFolder(folder), { recursive: true });
  await crew.makeWhole();
  await actors.first.policy.save(modelFolder(folder));
  writeTrainedOn(modelFolder(folder), trainedOnAfter(checked));
  await Promise.all([
    actors.first.lendState((state) => writeSafetensors(optimizerFile(folder), state)),
    ...actors.others.map((actor) => actor.call("shareState")),
  ]);
  const env = stages.map((_, i) => {
    const { plain, tensors } = crew.envCursor(i);
    const seen = crew.players.lastSeen(i);
    const all = new Map([...tensors, ...(seen ? observationTensors(seen) : [])]);
    if (all.size > 0) {
      mkdirSync(join(folder, "env"), { recursive: true });
      writeSafetensors(envFile(folder, i), all);
    }
    for (const tensor of tensors.values()) tensor.dispose();
    return { plain, task_descriptions: seen ? [...seen.taskDescriptions] : null };
  });
  const state: CheckpointState = {
    format: 1,
    step,
    optimizer_steps: actors.first.optimizer.steps,
    seed: checked.config.runner.seed,
    config: checked.name,
    slots: checked.config.env.train.total_num_envs ?? 0,
    stages: stages.length,
    env,
    versions: versions(),
    ...more,
  };
  writeJsonFile(stateFile(folder), state);
}

/** Changes to the model section that load the checkpoint's weights. */
export function modelFrom(folder: string, isLora: boolean): Record<string, unknown> {
  return isLora ? { lora_path: modelFolder(folder) } : { model_path: modelFolder(folder) };
}

export function readState(folder: string): CheckpointState {
  const parsed = stateSchema.safeParse(readJsonFile(stateFile(folder)));
  if (parsed.success) return parsed.data;
  throw new UserError(
    `${stateFile(folder)} is not the state of a checkpoint: ${z.prettifyError(parsed.error)}`,
  );
}

/** Puts optimizer and envs where the checkpoint left them; the weights were loaded with the policy. */
export async function restoreCrew(folder: string, state: CheckpointState, crew: Crew): Promise<void> {
  checkFits(folder, state, crew);
  const { actors, stages } = crew;
  const moments = readSafetensors(optimizerFile(folder));
  const saved = { state: moments, steps: state.optimizer_steps };
  actors.first.optimizer.loadState(saved.state, saved.steps);
  await Promise.all(actors.others.map((actor) => actor.call("restore", saved)));
  for (const [i, { opened }] of stages.entries()) {
    const { plain, task_descriptions: sentences } = state.env[i]!;
    const tensors = existsSync(envFile(folder, i)) ? readSafetensors(envFile(folder, i)) : new Map();
    await opened.load({ plain, tensors });
    if (sentences) crew.players.resumeFrom(i, observationFrom(tensors, sentences));
  }
}

function checkFits(folder: string, state: CheckpointState, { checked, stages }: Crew): void {
  const { config } = checked;
  const slots = config.env.train.total_num_envs;
  const found = { seed: config.runner.seed, slots, stages: stages.length };
  for (const [name, value] of Object.entries(found)) {
    const saved = state[name as keyof typeof found];
    if (saved !== value)
      throw new UserError(
        `${folder} was saved with ${name} ${saved}, and this run has ${value}: a run goes on only with the settings it began with; ` +
          "to begin a new run from these weights set actor.model.model_path to its actor/model",
      );
  }
}

const seenPrefix = "seen.";
const seenFields = ["mainImages", "wristImages", "extraImages", "states"] as const;

function observationTensors(observation: Observation): [string, Tensor][] {
  return seenFields.flatMap((field) => {
    const tensor = observation[field];
    return tensor ? [[`${seenPrefix}${field}`, tensor] as [string, Tensor]] : [];
  });
}

function observationFrom(tensors: ReadonlyMap<string, Tensor>, sentences: readonly string[]): Observation {
  const fields = seenFields.flatMap((field) => {
    const tensor = tensors.get(`${seenPrefix}${field}`);
    return tensor ? [[field, keep(tensor.clone())]] : [];
  });
  return { ...Object.fromEntries(fields), taskDescriptions: [...sentences] } as Observation;
}
