/** What a learned env is made of, and who may look on. */
import type { RewardModel } from "#rewards";
import type { Tensor } from "#tensor";
import type { DenoisingWatcher, NoiseSource, World } from "#worlds";
import type { DreamFilm } from "./dream-film.ts";
import type { Starts } from "./starts.ts";

/** For videos, truth meters and parity: sees what was imagined, while it lives. */
export interface ImaginationWatcher {
  step?: DenoisingWatcher;
  /** `slots[b]` is the slot of row b; frames float [B, C, 3, H, W]; opinions [B, C] before rounding. */
  chunk?(seen: { slots: readonly number[]; frames: Tensor; latents: Tensor; opinions: Tensor }): void;
}

export interface LearnedEnvParts {
  readonly world: World;
  readonly rewardModel: RewardModel;
  readonly starts: Starts;
  readonly noise?: NoiseSource;
  readonly watcher?: ImaginationWatcher;
  readonly film?: DreamFilm | undefined;
}
