/**
 * Plays a few of the evaluation's starts once more, with the same luck, and films them.
 *
 * The policy sees the small pictures that it knows; a larger camera and an overview film it for people.
 */
import { processLauncher } from "#cluster";
import { type CheckedConfig, samplingMode } from "#config";
import { disposeObservation } from "#data";
import { environmentFamily } from "#envs";
import type { Policy } from "#policies";
import { envSeedOffset, RandomStream } from "#random";
import { UserError } from "#registry";
import { type ChunkWatcher, findSuite } from "#simulators";
import { disposeStep, flaggedSlots, openPolicy, RolloutWorker } from "#workers";

export interface FilmedEpisode {
  readonly instruction: string;
  readonly frames: readonly Uint8Array[]; // [H, W, 3] each, the first before the first action
  readonly success: boolean;
}

export interface FilmWishes {
  /** One start per slot, as tasks and trials. */
  readonly starts: readonly Start[];
  /** Width and height of each of the two pictures that stand side by side in a frame. */
  readonly pixels: number;
}

interface Start {
  readonly task: number;
  readonly trial: number;
}

/** What the configuration's policy does at the given starts; frames are 2·pixels wide. */
export async function filmEpisodes(checked: CheckedConfig, wishes: FilmWishes): Promise<FilmedEpisode[]> {
  const section = checked.config.env.eval;
  if (!section) throw new UserError("the configuration has no env.eval: nothing to film");
  const actionSpec = (await environmentFamily(section)).actions(section);
  const policy = await openPolicy({ config: checked.config, actionSpec }, {});
  try {
    return await play(checked, policy, wishes);
  } finally {
    policy.dispose();
  }
}

async function play(
  checked: CheckedConfig,
  policy: Policy,
  { starts, pixels }: FilmWishes,
): Promise<FilmedEpisode[]> {
  const { config } = checked;
  const films = starts.map(() => ({ instruction: "", frames: [] as Uint8Array[], success: false }));
  const { env } = await openEnv(checked, starts.length, filmer(films), pixels);
  const worker = new RolloutWorker(policy);
  const stream = RandomStream.ofRun(config.runner.seed).branch("evaluation");
  const sampling = samplingMode(config, "eval");
  const over = starts.map(() => false);
  let observation = await env.reset({ ids: idsOf(checked, starts) });
  for (let decision = 0; !over.every(Boolean); decision++) {
    const seeds = starts.map(({ task, trial }) => stream.seed(0, task, trial, decision));
    const { step } = worker.answer({ from: "film", observation, wants: "decision", seeds }, sampling);
    if (!step) throw new Error("internal: a decision was asked for and none came");
    const answer = await env.step(step.actions);
    disposeStep(step);
    disposeObservation(observation);
    observation = answer.observation;
    for (const [slot, done] of flaggedSlots(answer).done.entries()) over[slot] ||= done;
    for (const part of [answer.rewards, answer.terminated, answer.truncated]) part.dispose();
  }
  disposeObservation(observation);
  await env.close();
  return films;
}

/** Keeps what each slot shows. Pictures are views that the host overwrites with its next answer, so a film has copies. */
function filmer(films: { instruction: string; frames: Uint8Array[]; success: boolean }[]): ChunkWatcher {
  const copies = ({ film, main }: { film?: readonly Uint8Array[] | undefined; main: Uint8Array }) =>
    (film ?? [main]).map((picture) => picture.slice());
  return {
    films: () => true,
    began({ slot }, instruction, sight) {
      films[slot]!.instruction = instruction;
      films[slot]!.frames.push(...copies(sight));
    },
    played({ slot, sight, account }) {
      films[slot]!.frames.push(...copies(sight));
      films[slot]!.success = account.successOnce;
    },
  };
}

/** The evaluation's env at its stored starts, with slots that rest once their episode is over. */
async function openEnv({ config }: CheckedConfig, size: number, watcher: ChunkWatcher, pixels: number) {
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
    { ...section, ...once },
    {
      ...{ size, firstSlot: 0, slots: size, seedOffset: envSeedOffset(config.runner.seed), device: "cpu" },
      launcher: processLauncher,
      watcher,
      film: { width: pixels, height: pixels, overview: true },
    },
  );
}

/** Starts are numbered task after task. */
function idsOf({ config }: CheckedConfig, starts: readonly Start[]): number[] {
  const suite = findSuite(String((config.env.eval ?? config.env.train).task_suite_name));
  const counts = suite.tasks.map((task) => suite.pack.readInitStates(task).count);
  return starts.map(({ task, trial }) => counts.slice(0, task).reduce((sum, n) => sum + n, 0) + trial);
}
