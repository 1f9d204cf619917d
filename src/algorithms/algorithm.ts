/** What every algorithm offers: a judgement of a rollout. The loss that follows is shared (loss.ts). */
import type { Rollout } from "#data";
import type { JudgeContext, Judgement } from "./judgement.ts";

export interface Algorithm {
  readonly name: string;
  readonly needsCritic: boolean;
  /** From what happened to what to learn from it. */
  judge(rollout: Rollout, context: JudgeContext): Promise<Judgement>;
}
