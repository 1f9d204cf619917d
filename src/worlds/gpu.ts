/**
 * How worlds use a GPU: convolutions with channels last, and the sampling of small batches as one captured graph.
 *
 * A sampling loop is thousands of small kernels. With many episodes in the batch the GPU is busy longer than it takes to issue
 * them, and a graph would only hold memory; with few it waits for us, and replaying the whole loop as one launch
 * helps.
 */
import { CapturedForward, convolutionsLast, type Module } from "#nn";
import type { Tensor } from "#tensor";

/** Episodes above which the GPU no longer waits for kernels to be issued. */
export const largestReplayed = 4;
/** Batch sizes whose graphs are kept. */
export const mostGraphs = 3;

type Named = Readonly<Record<string, Tensor | undefined>>;

/** A sampling loop that is captured when a batch size comes back. It may not copy from the host. */
export const capturedSampling = (sample: (inputs: Named) => Tensor): CapturedForward =>
  new CapturedForward((inputs) => ({ latents: sample(inputs) }), { sightings: 1, most: mostGraphs });

/** Whether a batch, [B, ...], is one that replaying helps. */
export const replayable = (batch: Tensor): boolean =>
  batch.device !== "cpu" && batch.shape[0]! <= largestReplayed;

/** Lays out a network's convolutions for tensor cores, where it is on a GPU. */
export function forGpu(module: Module): void {
  const [first] = module.parameters();
  if (first?.device !== "cpu" && first?.device !== "meta" && first?.dtype === "bfloat16")
    convolutionsLast(module);
}
