import assert from "node:assert/strict";
import { test } from "node:test";
import type { Minibatch } from "#data";
import { tensor, zeros } from "#tensor";
import { shuffleAdvantages } from "./shuffled-advantages.ts";

/** Two decisions of four episodes; the second episode ended after its first decision. */
const samples = (): Minibatch => ({
  forwardInputs: {},
  logProbs: zeros([8, 1, 1]),
  advantages: tensor([[1], [2], [3], [4], [1], [0], [3], [4]]),
  mask: tensor([[1], [1], [1], [1], [1], [0], [1], [1]], { dtype: "bool" }),
});

test("each episode gets one advantage of the same set at all its valid decisions, and masked ones stay zero", () => {
  const values = shuffleAdvantages(samples(), {
    decisions: 2,
    perEpisode: true,
    seed: 3,
  }).advantages.toArray();
  const first = values.slice(0, 4);
  assert.deepEqual([...first].sort(), [1, 2, 3, 4]);
  assert.notDeepEqual(first, [1, 2, 3, 4]);
  assert.deepEqual(values.slice(4), [first[0], 0, first[2], first[3]]);
});

test("within groups, each group keeps its advantages, and every order of them comes up equally often", () => {
  const orders = new Map<string, number>();
  for (let seed = 0; seed < 400; seed++) {
    const values = shuffleAdvantages(samples(), {
      decisions: 2,
      perEpisode: true,
      groupSize: 2,
      seed,
    }).advantages.toArray();
    assert.deepEqual(
      [values.slice(0, 2).sort(), values.slice(2, 4).sort()],
      [
        [1, 2],
        [3, 4],
      ],
    );
    assert.deepEqual(values.slice(4), [values[0], 0, values[2], values[3]]);
    const order = values.slice(0, 4).join();
    orders.set(order, (orders.get(order) ?? 0) + 1);
  }
  assert.equal(orders.size, 4);
  assert.ok(
    [...orders.values()].every((count) => count > 60 && count < 140),
    [...orders.values()].join(),
  );
});

test("entry by entry, valid advantages change places among themselves only", () => {
  const values = shuffleAdvantages(samples(), {
    decisions: 2,
    perEpisode: false,
    seed: 5,
  }).advantages.toArray();
  assert.equal(values[5], 0);
  assert.deepEqual(values.filter((_, i) => i !== 5).sort(), [1, 1, 2, 3, 3, 4, 4]);
  assert.notDeepEqual(values, [1, 2, 3, 4, 1, 0, 3, 4]);
});

test("the same seed gives the same control", () => {
  const run = () =>
    shuffleAdvantages(samples(), { decisions: 2, perEpisode: true, seed: 8 }).advantages.toArray();
  assert.deepEqual(run(), run());
});
