import { test } from "node:test";
import { tensor } from "#tensor";
import { assertClose } from "../../test/support/close.ts";
import { gae } from "./gae.ts";
import { normalize } from "./normalize.ts";

const line = {
  rewards: tensor([
    [0, 1],
    [0, 0],
    [1, 0],
  ]),
  values: tensor([
    [0.5, 0.2],
    [0.4, 0.3],
    [0.6, 0.1],
    [0.7, 0.9],
  ]),
  dones: tensor(
    [
      [0, 0],
      [0, 1],
      [0, 0],
      [1, 0],
    ],
    { dtype: "bool" },
  ),
};

test("advantages and returns equal the golden vector", async () => {
  const { advantages, returns } = gae(line, 0.99, 0.95);
  assertClose(
    returns,
    [
      [0.9322731, 1],
      [0.9702, 0.8429355],
      [1, 0.891],
    ],
    1e-6,
  );
  assertClose(
    advantages,
    [
      [0.4322731, 0.8],
      [0.5702, 0.5429355],
      [0.4, 0.791],
    ],
    1e-6,
  );
  assertClose(
    await normalize(advantages),
    [
      [-0.912979, 1.223662],
      [-0.111568, -0.269986],
      [-1.100498, 1.171368],
    ],
    1e-4,
  );
});

test("with lambda 1, an advantage is the discounted return minus the value", () => {
  const one = {
    rewards: tensor([[0], [0], [1]]),
    values: tensor([[0.5], [0.5], [0.5], [9]]),
    dones: tensor([[0], [0], [0], [1]], { dtype: "bool" }),
  };
  assertClose(gae(one, 0.9, 1).advantages, [0.31, 0.4, 0.5]);
});

test("with lambda 0, an advantage is the one-step error of the critic", () => {
  const one = {
    rewards: tensor([[0], [1]]),
    values: tensor([[0.5], [0.25], [2]]),
    dones: tensor([[0], [0], [0]], { dtype: "bool" }),
  };
  assertClose(gae(one, 0.9, 0).advantages, [0.9 * 0.25 - 0.5, 1 + 0.9 * 2 - 0.25]);
});

test("the value after the end of an episode is never used", () => {
  const cut = {
    ...line,
    values: tensor([
      [0.5, 0.2],
      [0.4, 0.3],
      [0.6, 0.1],
      [-100, 0.9],
    ]),
  };
  assertClose(gae(cut, 0.99, 0.95).advantages, gae(line, 0.99, 0.95).advantages);
});

test("without a critic, an advantage is the sum of the rewards that follow in the episode", () => {
  const { advantages } = gae({ rewards: line.rewards, dones: line.dones }, 0.5, 0.5);
  assertClose(advantages, [
    [1, 1],
    [1, 0],
    [1, 0],
  ]);
});
