/**
 * The control of a learning claim: every episode is given the advantage of another, drawn at random.
 *
 * Everything else stays the same (data, step sizes, noise, lengths), so what such a run gains is not learned from
 * reward: calibration, drift, or luck. A claim is worth what the true run gains beyond it. Drawn from its own group, an episode's
 * new advantage is 0 on average, whatever it did, and the group keeps its sum and its spread: only who did well is forgotten. Drawn
 * from the whole batch, groups also lose what they have in common.
 *
 * Shapes: T decisions, B columns (episodes), A advantages per decision; samples are in the order of the rollout.
 */
import type { Minibatch } from "#data";
import { cat, Generator, noGrad, randperm, scope, type Tensor } from "#tensor";

export interface ShuffleOptions {
  readonly decisions: number; // T
  /** One number per episode; with several (a critic's), each valid number is given another one's place. */
  readonly perEpisode: boolean;
  /** Episodes that change places among themselves, neighbors; absent: all. */
  readonly groupSize?: number;
  readonly seed: number | bigint;
}

export function shuffleAdvantages(
  samples: Minibatch,
  { decisions, perEpisode, groupSize, seed }: ShuffleOptions,
): Minibatch {
  const generator = new Generator(seed);
  const advantages = noGrad(() =>
    scope(() => {
      const [rows = 0, width = 0] = samples.advantages.shape;
      const shape = [decisions, rows / decisions, width];
      const values_TBA = samples.advantages.reshape(shape);
      const mask_TBA = samples.mask?.reshape(shape) ?? values_TBA.eq(values_TBA);
      const mixed = perEpisode
        ? byEpisode(values_TBA, mask_TBA, groupSize ?? rows / decisions, generator)
        : byEntry(values_TBA, mask_TBA, generator);
      return mixed.reshape([rows, width]);
    }),
  );
  generator.dispose();
  samples.advantages.dispose();
  return { ...samples, advantages };
}

/** An episode's one number, wherever its mask allows. */
function byEpisode(values_TBA: Tensor, mask_TBA: Tensor, groupSize: number, generator: Generator): Tensor {
  const valid_TBA = mask_TBA.float();
  const own_B = values_TBA
    .mul(valid_TBA)
    .sum([0, 2])
    .div(valid_TBA.sum([0, 2]).clamp(1));
  const groups = Array.from({ length: own_B.numel / groupSize }, (_, group) =>
    randperm(groupSize, { generator }).add(group * groupSize),
  );
  const other_B = own_B.indexSelect(0, cat(groups).to({ device: own_B.device }));
  return other_B.unsqueeze(0).unsqueeze(2).mul(valid_TBA);
}

function byEntry(values_TBA: Tensor, mask_TBA: Tensor, generator: Generator): Tensor {
  const places = mask_TBA.flatten().nonzero().squeeze(1);
  const order = randperm(places.numel, { generator }).to({ device: places.device });
  const mixed = values_TBA.flatten().clone();
  return mixed
    .indexCopy_(0, places, mixed.indexSelect(0, places.indexSelect(0, order)))
    .reshape(values_TBA.shape);
}
