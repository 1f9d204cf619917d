/**
 * Lets a world imagine a group of episodes from given first frames, with actions from wherever the caller has them.
 *
 * Episodes are imagined to the horizon whatever the reward model says, because meters want every frame.
 *
 * Shapes: B episodes, C actions per chunk, T frames in all, A action size, H W pixels in [-1, 1].
 */
import type { RewardModel } from "#rewards";
import { cat, noGrad, scope, type Tensor } from "#tensor";
import type { NoiseSource, World, WorldMemory, WorldStart } from "#worlds";

export interface Dreamer {
  readonly world: World;
  /** Absent: nobody has an opinion. */
  readonly rewardModel?: RewardModel;
  readonly noise: NoiseSource;
}

export interface Dream {
  readonly frames: Tensor; // [B, T, 3, H, W]
  readonly actions: Tensor; // [B, T, A]
  readonly opinions: readonly (readonly number[])[]; // [B][T], the reward model's probability of success
  /** By chunk, as the world has them. */
  readonly latents: readonly Tensor[];
}

/** `actionsOf` answers the last picture of every episode with the next chunk, [B, C, A]. */
export function dream(
  { world, rewardModel, noise }: Dreamer,
  starts: readonly WorldStart[],
  chunks: number,
  actionsOf: (pictures_B3HW: Tensor, chunk: number) => Tensor,
): Dream {
  const slots = starts.map((_, slot) => slot);
  const sentences = starts.flatMap(({ instruction }) => Array<string>(world.chunk).fill(instruction));
  return noGrad(() =>
    scope(() => {
      let memories: readonly WorldMemory[] = world.begin(starts, slots, noise);
      let seen: Tensor | undefined;
      const frames: Tensor[] = [];
      const latents: Tensor[] = [];
      const played: Tensor[] = [];
      const opinions: number[][] = starts.map(() => []);
      for (let chunk = 0; chunk < chunks; chunk++) {
        const part = scope(() => {
          const actions = actionsOf(seen ?? pictures(starts), chunk);
          const imagined = world.imagine({ memories, actions, slots, noise });
          const answers = rewardModel?.judge(imagined.frames.flatten(0, 1), sentences).cpu();
          return { ...imagined, actions, ...(answers && { answers }) };
        });
        memories = part.memories;
        seen = part.frames.select(1, world.chunk - 1);
        frames.push(part.frames.clamp(-1, 1));
        latents.push(part.latents);
        played.push(part.actions.cpu());
        const flat = part.answers?.toArray().map(Number) ?? [];
        for (const [b, list] of opinions.entries())
          list.push(...flat.slice(b * world.chunk, (b + 1) * world.chunk));
      }
      return { frames: cat(frames, 1), actions: cat(played, 1), opinions, latents };
    }),
  );
}

const pictures = (starts: readonly WorldStart[]): Tensor =>
  cat(starts.map(({ frame }) => frame.unsqueeze(0)));
