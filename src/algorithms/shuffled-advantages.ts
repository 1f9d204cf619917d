/**
 * The control of a learning claim: every episode is given the advantage of another, drawn at random.
 *
 * Everything else stays the same (data, step sizes, noise, lengths), so what such a run gains is not learned from
 * reward: calibration, drift, or luck. A claim is worth what the true run gains beyond it.
 *
 * Shapes: T decisions, B columns (episodes), A advantages per decision; samples are in the order of the rollout.
 */
import type { Minibatch } from "#data";
import { Generator, noGrad, randperm, scope, type Tensor } from "#tensor";

/** `decisions` is T. With several numbers per episode (a critic's), each valid number is given another one's place. */
export function shuffleAdvantages(
  samples: Minibatch,
  { decisions, perEpisode, seed }: { decisions: number; perEpisode: boolean; seed: number | bigint },
): Minibatch {
  const generator = new Generator(seed);
  const advantages = noGrad(() =>
    scope(() => {
      const [rows = 0, width = 0] = samples.advantages.shape;
      const shape = [decisions, rows / decisions, width];
      const values_TBA = samples.advantages.reshape(shape);
      const mask_TBA = samples.mask?.reshape(shape) ?? values_TBA.eq(values_TBA);
      const mixed = perEpisode
        ? byEpisode(values_TBA, mask_TBA, generator)
        : byEntry(values_TBA, mask_TBA, generator);
      return mixed.reshape([rows, width]);
    }),
  );
  generator.dispose();
  samples.advantages.dispose();
  return { ...samples, advantages };
}

/** An episode's one number, wherever its mask allows. */
function byEpisode(values_TBA: Tensor, mask_TBA: Tensor, generator: Generator): Tensor {
  const valid_TBA = mask_TBA.float();
  const own_B = values_TBA
    .mul(valid_TBA)
    .sum([0, 2])
    .div(valid_TBA.sum([0, 2]).clamp(1));
  const other_B = own_B.indexSelect(0, randperm(own_B.numel, { generator }).to({ device: own_B.device }));
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
