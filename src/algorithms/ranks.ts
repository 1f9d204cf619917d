/**
 * How statistics of a batch that is spread over several actor ranks are put together.
 *
 * Algorithms never know how ranks talk: they hand over a few plain numbers and get the result over all ranks,
 * so that advantages, losses and metrics are those of the whole batch, whatever the number of ranks.
 */
export interface Ranks {
  /** Element-wise sums over all ranks. */
  readonly sum: (values: readonly number[]) => Promise<readonly number[]>;
  /** Element-wise largest values over all ranks. */
  readonly max: (values: readonly number[]) => Promise<readonly number[]>;
}

/** One rank, nobody to talk to. */
export const alone: Ranks = { sum: async (values) => values, max: async (values) => values };
