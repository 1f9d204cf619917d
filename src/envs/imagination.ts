/** What an imagined env is made of, for those who measure it or replace it. */
import type { RewardModel } from "#rewards";
import type { World } from "#worlds";

/** The two networks of an imagined env: what imagines, and what judges. */
export interface Imagination {
  readonly world: World;
  readonly rewardModel: RewardModel;
}
