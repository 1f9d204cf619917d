/**
 * Several judges that vote: a policy in training must convince all of them, not find the one weakness of one.
 *
 * `min` is the most suspicious judge, `mean` their average, `median` the middle one (of an even number, the lower of the two in the
 * middle).
 */
import { type Device, type DType, scope, stack, type Tensor } from "#tensor";
import type { RewardModel } from "./reward-model.ts";

export type EnsembleVote = "min" | "mean" | "median";

const votes: Readonly<Record<EnsembleVote, (opinions_JN: Tensor) => Tensor>> = {
  min: (opinions) => opinions.amin([0]),
  mean: (opinions) => opinions.mean(0),
  median: (opinions) => opinions.sort(0)[0].select(0, Math.floor(((opinions.shape[0] ?? 1) - 1) / 2)),
};

export class RewardModelEnsemble implements RewardModel {
  readonly name: string;
  readonly #members: readonly RewardModel[];
  readonly #vote: EnsembleVote;

  constructor(members: readonly RewardModel[], vote: EnsembleVote) {
    this.name = `${vote} of ${members.length} judges`;
    this.#members = members;
    this.#vote = vote;
  }

  judge(frames_NCHW: Tensor, instructions: readonly string[]): Tensor {
    return scope(() =>
      votes[this.#vote](
        stack(this.#members.map((rewardModel) => rewardModel.judge(frames_NCHW, instructions))),
      ),
    );
  }

  checkInstruction(instruction: string): void {
    for (const rewardModel of this.#members) rewardModel.checkInstruction(instruction);
  }

  to(place: { device?: Device; dtype?: DType }): void {
    for (const rewardModel of this.#members) rewardModel.to(place);
  }

  /** Names begin with the member's number. */
  state(): ReadonlyMap<string, Tensor> {
    return new Map(
      this.#members.flatMap((rewardModel, i) =>
        [...rewardModel.state()].map(([name, weight]) => [`${i}.${name}`, weight] as const),
      ),
    );
  }
}
