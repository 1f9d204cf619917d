/**
 * One phase in which envs and policy talk: opens the channels, lets the rollout workers serve while the envs play, closes.
 *
 * A failure on either side ends the other, and the first cause is what is thrown.
 */
import { LocalChannel } from "#cluster";
import type { RankCounts, SamplingMode } from "#config";
import { type Answer, type Decider, PolicyLine, type Question } from "#workers";
import type { Stage } from "./assemble.ts";

export interface Players {
  readonly stages: readonly Stage[];
  readonly rollouts: readonly Decider[];
  readonly ranks: RankCounts;
  readonly sampling: SamplingMode;
  /** Ends the talk: whoever asks or answers next is told so. */
  readonly signal?: AbortSignal | undefined;
}

const rolloutKey = (rank: number): string => `rollout ${rank}`;

/** `play` gets one line per stage. A stage always asks the same rollout worker. */
export async function playTogether<T>(
  { stages, rollouts, ranks, sampling, signal }: Players,
  play: (lines: readonly PolicyLine[]) => Promise<T>,
): Promise<T> {
  const questions = new LocalChannel<Question>();
  const answers = new LocalChannel<Answer>();
  const lines = stages.map(({ envRank }, i) => {
    const to = rolloutKey(Math.floor((envRank * ranks.rollout) / ranks.env));
    return new PolicyLine({ from: `stage ${i}`, to, questions, answers });
  });
  const serving = rollouts.map((worker, rank) =>
    worker.serve(rolloutKey(rank), questions, answers, sampling).catch((error) => {
      answers.close(error);
      throw error;
    }),
  );
  const hangUp = (): void => {
    questions.close(signal?.reason);
    answers.close(signal?.reason);
  };
  signal?.addEventListener("abort", hangUp, { once: true });
  const playing = play(lines).finally(() => questions.close());
  const [served, played] = await Promise.allSettled([Promise.all(serving), playing]);
  signal?.removeEventListener("abort", hangUp);
  if (served.status === "rejected") throw served.reason;
  if (played.status === "rejected") throw played.reason;
  return played.value;
}
