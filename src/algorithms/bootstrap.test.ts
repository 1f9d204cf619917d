import { test } from "node:test";
import { tensor } from "#tensor";
import { assertClose } from "../../test/support/close.ts";
import { bootstrapRewards } from "./bootstrap.ts";

/** Slot 0 ran out of time, slot 1 reached its goal, slot 2 goes on, slot 3 reached its goal as time ran out. */
const ending = {
  rewards: tensor([
    [0, 1],
    [0, 1],
    [0, 1],
    [0, 1],
  ]),
  truncated: tensor(
    [
      [0, 1],
      [0, 0],
      [0, 0],
      [0, 1],
    ],
    { dtype: "bool" },
  ),
  terminated: tensor(
    [
      [0, 0],
      [0, 1],
      [0, 0],
      [0, 1],
    ],
    { dtype: "bool" },
  ),
};
const values = tensor([[10], [20], [30], [40]]);

test("standard bootstrapping adds the discounted value only where time ran out and the task was not done", () => {
  assertClose(bootstrapRewards(ending, values, 0.9, "standard"), [
    [0, 10],
    [0, 1],
    [0, 1],
    [0, 1],
  ]);
});

test("always bootstrapping also adds it where the task ended", () => {
  assertClose(bootstrapRewards(ending, values, 0.9, "always"), [
    [0, 10],
    [0, 19],
    [0, 1],
    [0, 37],
  ]);
});
