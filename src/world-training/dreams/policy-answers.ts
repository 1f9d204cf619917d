/**
 * What a policy answers episodes that play side by side, each sampling at a temperature and from a stream of its own.
 *
 * Episodes of one temperature are asked together. A temperature of 0 is greedy.
 *
 * Shapes: B episodes, C actions of an answer, A action size.
 */

import type { Policy } from "#policies";
import type { EpisodeJob } from "#recordings";
import { UserError } from "#registry";
import { indexOfSeed } from "#simulators";
import { type Generator, noGrad, scope, type Tensor, tensor, zeros } from "#tensor";

/** What is seen, and by whom. */
export interface Asking {
  readonly pictures_BHW3: Tensor; // uint8
  readonly states_BS: Tensor;
  readonly sentences: readonly string[];
  readonly temperatures: readonly number[];
  readonly streams: readonly Generator[];
}

/** Refused where a policy's answers are not what a world takes at once. */
export function requireChunk(policy: Policy, chunk: number): void {
  if (policy.chunk === chunk) return;
  throw new UserError(
    `the policy answers with ${policy.chunk} actions and the world takes ${chunk}: they do not fit`,
  );
}

/** In turn; tasks take turns with neighboring seeds, and a task's own rounds must see every temperature. */
export function dealtTemperature(
  { seed }: EpisodeJob,
  temperatures: readonly number[],
  taskCount: number,
): number {
  const round = Math.floor(indexOfSeed(seed) / taskCount);
  return temperatures[round % temperatures.length] ?? 1;
}

/** On the CPU, [B, C, A]. */
export function policyAnswers(policy: Policy, asking: Asking): Tensor {
  const { pictures_BHW3, states_BS, sentences, temperatures, streams } = asking;
  return noGrad(() =>
    scope(() => {
      const all = zeros([sentences.length, policy.chunk, policy.actionSize]);
      for (const temperature of new Set(temperatures)) {
        const rows = temperatures.flatMap((own, row) => (own === temperature ? [row] : []));
        const index = tensor(rows, { dtype: "int64" });
        const seen = (whole: Tensor): Tensor => whole.cpu().indexSelect(0, index);
        const observation = {
          mainImages: seen(pictures_BHW3),
          states: seen(states_BS),
          taskDescriptions: rows.map((row) => sentences[row]!),
        };
        const generator = rows.map((row) => streams[row]!);
        const sampling =
          temperature > 0
            ? ({ mode: "sample", temperature, generator } as const)
            : ({ mode: "greedy" } as const);
        all.indexCopy_(0, index, policy.act(observation, sampling).actions.cpu().float());
      }
      return all;
    }),
  );
}
