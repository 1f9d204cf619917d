/**
 * Plays every stored start of a benchmark once per pass, and notes how each episode went.
 *
 * The policy's draws are seeded by pass, start and decision: the result does not depend on how many envs play at once, and two
 * policies that are compared face the same starts with the same luck.
 */

import { disposeObservation, type EnvStep, type Observation } from "#data";
import type { OpenedEnv, StartPool } from "#envs";
import type { RandomStream } from "#random";
import { decideFor, disposeStep, EpisodeLog, flaggedSlots, type PolicyLine } from "#workers";

export interface EpisodeResult {
  readonly task: string;
  readonly trial: number;
  readonly pass: number;
  readonly success: boolean;
  readonly length: number; // actions
}

/** 1: all starts. Less: the first of each task, so that two evaluations with the same share play the same. */
export interface EvaluationShare {
  share: number;
}

/** How many of a task's starts a share is: at least one. */
export const startsWithin = (count: number, share: number): number =>
  Math.min(count, Math.max(1, Math.ceil(count * share)));

export interface PassRules {
  readonly pass: number;
  readonly stream: RandomStream;
  readonly autoReset: boolean;
  /** Which part of every task's starts is played, read at every decision: an evaluation may be shortened while it runs. */
  readonly extent?: EvaluationShare | undefined;
  /** Most decisions per slot; a pass ends before when all starts are played. */
  readonly decisions: number;
  readonly onEpisodes?: ((count: number) => void) | undefined;
}

export interface PassResult {
  readonly episodes: readonly EpisodeResult[];
  readonly log: EpisodeLog;
}

type Start = NonNullable<ReturnType<StartPool["startOf"]>>;

/** One pass of one env. */
export async function playPass(opened: OpenedEnv, line: PolicyLine, rules: PassRules): Promise<PassResult> {
  const pass = new Pass(opened, rules);
  await playStarts(opened, line, rules, pass);
  opened.env.updateResetIds(); // whoever films knows that this pass is over
  return pass.result;
}

async function playStarts({ env }: OpenedEnv, line: PolicyLine, rules: PassRules, pass: Pass): Promise<void> {
  let seen = await pass.begin();
  rules.onEpisodes?.(0); // the environments answer
  for (let t = 0; t < rules.decisions; t++) {
    const starts = pass.starts();
    if (starts.size === 0) {
      disposeObservation(seen);
      const next = await pass.nextBatch();
      if (!next) return;
      seen = next;
      continue;
    }
    const { step } = await decideFor([...starts.keys()], seen, line, (slot) => pass.seed(slot));
    const answer = await env.step(step.actions);
    disposeObservation(seen);
    disposeStep(step);
    pass.enter(answer, starts, seen.taskDescriptions);
    for (const tensor of [answer.rewards, answer.terminated, answer.truncated]) tensor.dispose();
    if (answer.finalObservation) disposeObservation(answer.finalObservation);
    seen = answer.observation;
  }
  disposeObservation(seen);
}

/** Who plays which start, since when, and how it went. */
class Pass {
  readonly result = { episodes: [] as EpisodeResult[], log: new EpisodeLog() };
  readonly #opened: OpenedEnv;
  readonly #pool: StartPool;
  readonly #rules: PassRules;
  readonly #age: number[]; // decisions since the slot's episode began
  readonly #over: boolean[]; // without auto-reset: done, and waiting for the others

  constructor(opened: OpenedEnv, rules: PassRules) {
    this.#opened = opened;
    this.#pool = opened.pool ?? anonymousPool(opened);
    this.#rules = rules;
    this.#age = Array<number>(opened.env.size).fill(0);
    this.#over = Array<boolean>(opened.env.size).fill(false);
  }

  begin(): Promise<Observation> {
    this.#pool.restart();
    return this.#opened.env.reset();
  }

  /** What is being played, by slot. */
  starts(): Map<number, Start> {
    const playing = this.#over.flatMap((over, slot) => {
      const start = over ? undefined : this.#pool.startOf(slot);
      return start && this.#isWanted(start) ? [[slot, start] as const] : [];
    });
    return new Map(playing);
  }

  /** Starts are dealt in the order of their trials, so that those which are left out come last. */
  #isWanted({ task, trial }: Start): boolean {
    const { share } = this.#rules.extent ?? { share: 1 };
    return share >= 1 || trial < startsWithin(this.#pool.trials[task] ?? 0, share);
  }

  seed(slot: number): bigint {
    const start = this.#pool.startOf(slot);
    return this.#rules.stream.seed(
      this.#rules.pass,
      start?.task ?? 0,
      start?.trial ?? 0,
      this.#age[slot] ?? 0,
    );
  }

  /** The next starts for all slots, where they do not reset themselves; undefined when there are none. */
  async nextBatch(): Promise<Observation | undefined> {
    if (this.#rules.autoReset || !this.#opened.pool) return undefined;
    const { env } = this.#opened;
    env.updateResetIds();
    const seen = await env.reset();
    this.#over.fill(false);
    this.#age.fill(0);
    if (this.starts().size > 0) return seen;
    disposeObservation(seen);
    return undefined;
  }

  enter(answer: EnvStep, starts: ReadonlyMap<number, Start>, tasks: readonly string[]): void {
    const { terminated, done } = flaggedSlots(answer);
    const finished = [...starts.keys()].filter((slot) => done[slot]);
    this.result.log.enter(answer.episode, finished, (slot) => terminated[slot] ?? false, tasks);
    for (const slot of finished) this.result.episodes.push(this.#describe(slot, starts.get(slot)!, answer));
    for (const slot of starts.keys()) this.#age[slot] = done[slot] ? 0 : (this.#age[slot] ?? 0) + 1;
    if (!this.#rules.autoReset) for (const slot of finished) this.#over[slot] = true;
    if (finished.length > 0) this.#rules.onEpisodes?.(finished.length);
  }

  #describe(slot: number, { task, trial }: Start, { episode }: EnvStep): EpisodeResult {
    return {
      task: this.#pool.tasks[task] ?? String(task),
      trial,
      pass: this.#rules.pass,
      success: (episode.success_once?.[slot] ?? 0) > 0,
      length: episode.episode_len?.[slot] ?? 0,
    };
  }
}

/** For envs without stored starts: each slot plays what it is dealt. */
function anonymousPool({ env }: OpenedEnv): StartPool {
  return {
    tasks: ["all"],
    starts: env.size,
    trials: [Number.POSITIVE_INFINITY],
    restart: () => env.updateResetIds(),
    startOf: (slot) => ({ task: 0, trial: env.resetIds[slot] ?? slot }),
  };
}
