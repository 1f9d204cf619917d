import assert from "node:assert/strict";
import { test } from "node:test";
import { assertClose } from "../../../test/support/close.ts";
import { RandomRewardModel } from "./random-reward-model.ts";

const criterion = { threshold: 0.5, holdFrames: 2 };
const yes = [0, 0, 1, 1];
const no = [0, 1, 0, 1];
const size = 400;
const slots = Array.from({ length: size }, (_, slot) => slot);

/** The real reward model finds slots 0–99 successful in their first chunk and 100–249 in their second. */
const realOpinions = (chunk: number) =>
  slots.map((slot) => (slot < 100 || (chunk > 0 && slot < 250) ? yes : no));

/** Plays two chunks of all slots, dropping those that ended; the numbers of the slots that succeeded in each. */
function play(rewardModel: RandomRewardModel): number[][] {
  for (const slot of slots) rewardModel.began(slot);
  let playing = slots;
  return [0, 1].map((chunk) => {
    rewardModel.stepBegan();
    const real = realOpinions(chunk);
    const given = rewardModel.opinions(
      playing,
      playing.map((slot) => real[slot]!),
    );
    assert.ok(given.every((frames) => new Set(frames).size === 1 && frames.length === 4));
    const succeeded = playing.filter((_, b) => given[b]![0] === 1);
    playing = playing.filter((slot) => !succeeded.includes(slot));
    return succeeded;
  });
}

test("successes come at the real reward model's rate in each chunk, and fall on all slots alike", () => {
  const rewardModel = new RandomRewardModel(size, { chunk: 4, criterion, seed: 3 });
  let [first, second, ofSeen, runs] = [0, 0, 0, 0];
  for (; runs < 20; runs++) {
    const [one, two] = play(rewardModel);
    first += one!.length;
    second += two!.length;
    ofSeen += one!.filter((slot) => slot < 100).length;
  }
  assertClose(first / (runs * size), 100 / 400, 0.03);
  assertClose(second / (runs * size - first), 150 / 300, 0.03);
  assertClose(ofSeen / (runs * 100), 100 / 400, 0.03); // those whom the real reward model would have rewarded get no more
});

test("the same seed draws the same successes, and a restored reward model goes on where it stopped", () => {
  const make = (seed: number) => new RandomRewardModel(size, { chunk: 4, criterion, seed });
  const [a, b] = [make(1), make(1)];
  assert.deepEqual(play(a), play(b));
  const restored = make(7);
  restored.setState(a.getState());
  assert.deepEqual(play(restored), play(b));
  assert.notDeepEqual(play(make(2)), play(make(1)));
});

test("a reward model that never finds success gives none, and more frames to hold than a chunk has are refused", () => {
  const rewardModel = new RandomRewardModel(2, { chunk: 4, criterion, seed: 0 });
  rewardModel.stepBegan();
  assert.deepEqual(rewardModel.opinions([0, 1], [no, no]).flat(), Array(8).fill(0));
  const long = { chunk: 4, criterion: { threshold: 0.5, holdFrames: 5 }, seed: 0 };
  assert.throws(() => new RandomRewardModel(2, long), /random_judge.*success_hold_frames \(5\)/);
});
