/**
 * Recorded frames as a world would show them: what a reward model will see at run time.
 *
 * Shapes: N frames, T actions of an episode, H W pixels in [-1, 1].
 */
import type { Generator, Tensor } from "#tensor";

/** The frames of these rows, [N, 3, H, W]; `noise` is the largest standard deviation on their latents. */
export type SeenThrough = (rows: readonly number[], noise: number, generator: Generator) => Tensor;

/** All frames of an episode after its first, as a perfect denoiser's world would show them, [T, 3, H, W]. */
export type EpisodeThrough = (episode: { readonly first: number; readonly length: number }) => Tensor;

/** Recorded frames as a world's autoencoder shows them: encoded, a little noised, decoded. */
export interface ThroughAutoencoder {
  readonly rows: SeenThrough;
  readonly episode: EpisodeThrough;
}
