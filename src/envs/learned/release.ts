/** Gives back what a world and its reward model hold, when another takes their place or a measurement is done. */
import { emptyCache, type Tensor } from "#tensor";
import type { Imagination } from "../imagination.ts";

/** Weights and captured graphs; on an accelerator also what the allocator keeps, for the other processes there. */
export function releaseImagination({
  world,
  rewardModel,
}: Pick<Imagination, "world"> & Partial<Imagination>): void {
  const networks = rewardModel ? [world, rewardModel] : [world];
  const weights = (): Tensor[] => networks.flatMap((network) => [...network.state().values()]);
  const there = weights();
  const isAway = there.some(({ device }) => device !== "cpu");
  // Whoever leaves a GPU also forgets what was captured there.
  if (isAway) for (const network of networks) network.to({ device: "cpu" });
  for (const weight of new Set([...there, ...weights()])) weight.dispose();
  if (isAway) emptyCache();
}
