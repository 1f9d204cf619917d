/**
 * Plays every stored start of a benchmark once per pass, and notes how each episode went.
 *
 * The policy's draws are seeded by pass, start and decision: the result does not depend on how many envs play at once, and two
 * policies that are compared face the same starts with the same luck.
 */
import type { Stream } from "#cluster";
import { disposeObservation, type Observation } from "#data";
import type { OpenedEnv, StartPool } from "#envs";
import { disposeStep, EpisodeLog, flaggedSlots, type PolicyLine } from "#workers";

export interface EpisodeResult {
  readonly task: string;
  readonly trial: number;
  readonly pass: number;
  readonly success: boolean;
  readonly length: number; // actions
}

export interface PassRules {
  readonly pass: number;
  readonly stream: Stream;
  readonly autoReset: boolean;
  /** Most decisions per slot; a pass ends before when all starts are played. */
  readonly decisions: number;
  readonly onEpisodes?: ((count: number) => void) | undefined;
}

export interface PassResult {
  readonly episodes: readonly EpisodeResult[];
  readonly log: EpisodeLog;
}

/** One pass of one env. */
export async function playPass(opened: OpenedEnv, line: PolicyLine, rules: PassRules): Promise<PassResult> {
  const { env, pool = anonymousPool(opened) } = opened;
  const record: { episodes: EpisodeResult[]; log: EpisodeLog } = { episodes: [], log: new EpisodeLog() };
  const age = new Array<number>(env.size).fill(0); // decisions since the slot's episode began
  const over = new Array<boolean>(env.size).fill(false); // without auto-reset: waits for the others
  pool.restart();
  let seen: Observation = await env.reset();
  for (let t = 0; t < rules.decisions; t++) {
    const starts = age.map((_, slot) => (over[slot] ? undefined : pool.startOf(slot)));
    if (starts.every((start) => start === undefined)) {
      if (rules.autoReset || !opened.pool) break;
      env.updateResetIds();
      disposeObservation(seen);
      seen = await env.reset();
      over.fill(false);
      age.fill(0);
      if (age.every((_, slot) => pool.startOf(slot) === undefined)) break;
      continue;
    }
    const seeds = starts.map((start, slot) =>
      rules.stream.seed(rules.pass, start?.task ?? 0, start?.trial ?? 0, age[slot] ?? 0),
    );
    const { step } = await line.decide(seen, seeds);
    const answer = await env.step(step.actions);
    disposeObservation(seen);
    disposeStep(step);
    const { terminated, done } = flaggedSlots(answer);
    const finished = starts.flatMap((start, slot) => (start && done[slot] ? [{ start, slot }] : []));
    record.log.enter(
      answer.episode,
      finished.map(({ slot }) => slot),
      (slot) => terminated[slot] ?? false,
    );
    for (const { start, slot } of finished) {
      record.episodes.push({
        task: pool.tasks[start.task] ?? String(start.task),
        trial: start.trial,
        pass: rules.pass,
        success: (answer.episode.success_once?.[slot] ?? 0) > 0,
        length: answer.episode.episode_len?.[slot] ?? 0,
      });
    }
    for (let slot = 0; slot < env.size; slot++) {
      age[slot] = done[slot] ? 0 : (age[slot] ?? 0) + 1;
      if (done[slot] && !rules.autoReset) over[slot] = true;
    }
    for (const tensor of [answer.rewards, answer.terminated, answer.truncated]) tensor.dispose();
    if (answer.finalObservation) disposeObservation(answer.finalObservation);
    seen = answer.observation;
    if (finished.length > 0) rules.onEpisodes?.(finished.length);
  }
  disposeObservation(seen);
  return record;
}

/** For envs without stored starts: each slot plays what it is dealt. */
function anonymousPool({ env }: OpenedEnv): StartPool {
  return {
    tasks: ["all"],
    starts: env.size,
    restart: () => env.updateResetIds(),
    startOf: (slot) => ({ task: 0, trial: env.resetIds[slot] ?? slot }),
  };
}
