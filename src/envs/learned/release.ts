/** Gives back what a world and its judge hold, when another takes their place or a measurement is done. */
import type { RewardModel } from "#rewards";
import { emptyCache, type Tensor } from "#tensor";
import type { World } from "#worlds";

/** The two networks of an imagined env: what imagines, and what judges. */
export interface Imagination {
  readonly world: World;
  readonly judge: RewardModel;
}

/** Weights and captured graphs; on an accelerator also what the allocator keeps, for the other processes there. */
export function releaseImagination({
  world,
  judge,
}: Pick<Imagination, "world"> & Partial<Imagination>): void {
  const networks = judge ? [world, judge] : [world];
  const weights = (): Tensor[] => networks.flatMap((network) => [...network.state().values()]);
  const there = weights();
  const isAway = there.some(({ device }) => device !== "cpu");
  // Whoever leaves a GPU also forgets what was captured there.
  if (isAway) for (const network of networks) network.to({ device: "cpu" });
  for (const weight of new Set([...there, ...weights()])) weight.dispose();
  if (isAway) emptyCache();
}
