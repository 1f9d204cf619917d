/**
 * Plays a few of the evaluation's starts once more, with the same luck, and films them.
 *
 * The policy plays with the pictures that it knows, which are small. Then its actions are played again before a larger camera: an
 * episode is a function of its start and its actions, so what is filmed is what was played.
 */
import { Stream } from "#cluster";
import { type CheckedConfig, samplingMode } from "#config";
import { disposeObservation } from "#data";
import { type ChunkWatcher, environmentFamily, findSuite } from "#envs";
import type { Policy } from "#policies";
import { UserError } from "#registry";
import { keep, scope, type Tensor } from "#tensor";
import { disposeStep, flaggedSlots, openPolicy, RolloutWorker } from "#workers";
import { seedOffset } from "../crew.ts";

export interface FilmedEpisode {
  readonly instruction: string;
  readonly frames: readonly Uint8Array[]; // [H, W, 3] each, the first before the first action
  readonly success: boolean;
}

export interface FilmWishes {
  /** One start per slot, as tasks and trials. */
  readonly starts: readonly Start[];
  readonly pixels: number; // width and height of the film
}

interface Start {
  readonly task: number;
  readonly trial: number;
}

/** What the configuration's policy does at the given starts. */
export async function filmEpisodes(checked: CheckedConfig, wishes: FilmWishes): Promise<FilmedEpisode[]> {
  const section = checked.config.env.eval;
  if (!section) throw new UserError("the configuration has no env.eval: nothing to film");
  const { actions } = await environmentFamily(section);
  const policy = await openPolicy({ config: checked.config, actionSpec: actions }, {});
  try {
    const chunks = await play(checked, policy, wishes.starts);
    const episodes = await replay(checked, chunks, wishes);
    for (const chunk of chunks) chunk.dispose();
    return episodes;
  } finally {
    policy.dispose();
  }
}

/** The actions of all decisions, [B, C, A] each. */
async function play(checked: CheckedConfig, policy: Policy, starts: readonly Start[]): Promise<Tensor[]> {
  const { config } = checked;
  const { env } = await openEnv(checked, starts.length, {});
  const worker = new RolloutWorker(policy);
  const stream = Stream.ofRun(config.runner.seed).branch("evaluation");
  const sampling = samplingMode(config, "eval");
  const over = starts.map(() => false);
  const chunks: Tensor[] = [];
  let observation = await env.reset({ ids: idsOf(checked, starts) });
  while (!over.every(Boolean)) {
    const seeds = starts.map(({ task, trial }) => stream.seed(0, task, trial, chunks.length));
    const { step } = worker.answer({ from: "film", observation, wants: "decision", seeds }, sampling);
    if (!step) throw new Error("internal: a decision was asked for and none came");
    const answer = await env.step(step.actions);
    chunks.push(scope(() => keep(step.actions.clone())));
    disposeStep(step);
    disposeObservation(observation);
    observation = answer.observation;
    for (const [slot, done] of flaggedSlots(answer).done.entries()) over[slot] ||= done;
    for (const part of [answer.rewards, answer.terminated, answer.truncated]) part.dispose();
  }
  disposeObservation(observation);
  await env.close();
  return chunks;
}

async function replay(
  checked: CheckedConfig,
  chunks: readonly Tensor[],
  { starts, pixels }: FilmWishes,
): Promise<FilmedEpisode[]> {
  const films = starts.map(() => ({ instruction: "", frames: [] as Uint8Array[], success: false }));
  // Pictures are views that the host overwrites with its next answer, so a film keeps copies.
  const watcher: ChunkWatcher = {
    films: () => true,
    began({ slot }, instruction, { main }) {
      films[slot]!.instruction = instruction;
      films[slot]!.frames.push(main.slice());
    },
    played({ slot, sight, account }) {
      films[slot]!.frames.push(...(sight.film ?? [sight.main]).map((picture) => picture.slice()));
      films[slot]!.success = account.successOnce;
    },
  };
  const camera = { init_params: { camera_heights: pixels, camera_widths: pixels } };
  const { env } = await openEnv(checked, starts.length, camera, watcher);
  disposeObservation(await env.reset({ ids: idsOf(checked, starts) }));
  for (const actions of chunks) {
    const answer = await env.step(actions);
    disposeObservation(answer.observation);
    for (const part of [answer.rewards, answer.terminated, answer.truncated]) part.dispose();
  }
  await env.close();
  return films;
}

/** The evaluation's env at its stored starts, with slots that rest once their episode is over. */
async function openEnv(
  { config }: CheckedConfig,
  size: number,
  changes: Readonly<Record<string, unknown>>,
  watcher?: ChunkWatcher,
) {
  const section = config.env.eval ?? config.env.train;
  const family = await environmentFamily(section);
  const once = {
    auto_reset: false,
    ignore_terminations: false,
    group_size: 1,
    is_eval: false,
    starts: "stored",
  };
  return family.open(
    { ...section, ...once, ...changes },
    { size, firstSlot: 0, slots: size, seedOffset: seedOffset(config.runner.seed), device: "cpu", watcher },
  );
}

/** Starts are numbered task after task. */
function idsOf({ config }: CheckedConfig, starts: readonly Start[]): number[] {
  const suite = findSuite(String((config.env.eval ?? config.env.train).task_suite_name));
  const counts = suite.tasks.map((task) => suite.pack.readInitStates(task).count);
  return starts.map(({ task, trial }) => counts.slice(0, task).reduce((sum, n) => sum + n, 0) + trial);
}
