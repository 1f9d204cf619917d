/** A simulator env as the loop wants it: with its start pool, and with a cursor that goes into checkpoints. */
import { z } from "zod";
import { UserError } from "#registry";
import { findSuite, watchAll } from "#simulators";
import { type Tensor, tensor } from "#tensor";
import type { EnvCursor, EnvPlace, OpenedEnv, StartPool } from "../env-family.ts";
import { filmViewOf, recordersOf } from "./recorders.ts";
import { simulatorEnvSettings } from "./settings.ts";
import { SimulatorEnv, type SimulatorEnvState } from "./simulator-env.ts";

type Section = Readonly<Record<string, unknown>>;

function settingsOf(section: Section): z.infer<typeof simulatorEnvSettings> {
  const parsed = simulatorEnvSettings.safeParse(section);
  if (parsed.success) return parsed.data;
  throw new UserError(`this env section cannot be opened:\n${z.prettifyError(parsed.error)}`);
}

/** The sentences of all tasks that the section can play. */
export function sentencesOf(section: Section): string[] {
  const { task_suite_name: suite, task_id_filter: chosen } = settingsOf(section);
  const { tasks } = findSuite(suite);
  return (chosen ?? tasks.map((_, task) => task)).flatMap((task) => tasks[task]?.language ?? []);
}

export async function openSimulator(section: Section, place: EnvPlace): Promise<OpenedEnv> {
  const given = settingsOf(section);
  const settings = { ...given, seed: given.seed + place.seedOffset };
  const film = place.film ?? filmViewOf(section, settings);
  const watchers = [...recordersOf(section, settings, place), ...(place.watcher ? [place.watcher] : [])];
  const env = new SimulatorEnv(place.size, settings, {
    instance: place.firstSlot / place.size,
    instances: place.slots / place.size,
    ...(watchers.length > 0 && { watcher: watchAll(watchers) }),
    film,
    launcher: place.launcher,
    ...(place.say && { say: place.say }),
  });
  return {
    env,
    pool: poolOf(env),
    save: (running) => cursorOf(env.save(), running),
    load: (cursor) => restore(env, cursor),
  };
}

function poolOf(env: SimulatorEnv): StartPool {
  const { suite, settings } = env;
  const chosen = new Set(settings.task_id_filter ?? suite.tasks.keys());
  const trials = env.trials.map((count, task) => (chosen.has(task) ? count : 0));
  return {
    tasks: suite.tasks.map(({ name }) => name),
    starts: trials.reduce((sum, count) => sum + count, 0),
    trials,
    restart: () => env.restartEvaluation(),
    startOf: (slot) => env.startOf(slot),
  };
}

/** Snapshots as tensors, the rest as JSON. */
function cursorOf({ resetIds, slots }: SimulatorEnvState, running: boolean): EnvCursor {
  const tensors = new Map<string, Tensor>();
  if (!running) return { plain: { resetIds }, tensors };
  const plainSlots = slots.map(({ snapshot, ...rest }, slot) => {
    if (snapshot) tensors.set(`snapshot.${slot}`, tensor(snapshot.snapshot));
    return { ...rest, task: snapshot?.task };
  });
  return { plain: { resetIds, slots: plainSlots }, tensors };
}

type SavedSlot = Omit<SimulatorEnvState["slots"][number], "snapshot"> & { readonly task?: number };

async function restore(env: SimulatorEnv, { plain, tensors }: EnvCursor): Promise<void> {
  const { resetIds, slots } = plain as { resetIds: string; slots?: SavedSlot[] };
  if (slots && slots.length !== env.size)
    throw new UserError(
      `the saved env has ${slots.length} slots and this one ${env.size}: resume with the same settings`,
    );
  const snapshots = (slots ?? env.save().slots).map((saved, slot) => {
    const data = tensors.get(`snapshot.${slot}`)?.data() as Float64Array | undefined;
    const task = (saved as SavedSlot).task;
    const snapshot = data && task !== undefined ? { slot, task, snapshot: data } : undefined;
    return { start: saved.start, account: saved.account, counted: saved.counted, snapshot };
  });
  await env.load({ resetIds, slots: snapshots });
}
