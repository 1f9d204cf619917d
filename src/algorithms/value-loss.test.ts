import { test } from "node:test";
import { tensor as float64, tensor } from "#tensor";
import { assertClose } from "../../test/support/close.ts";
import { valueLoss } from "./value-loss.ts";

test("the loss and the clip fraction equal the golden vector", () => {
  // In float64: the second value has moved by 0.2, which is not beyond the clip; float32 would round it there.
  const tensor = (data: number[][]) => float64(data, { dtype: "float64" });
  const { loss, outside } = valueLoss(
    tensor([[0.5], [1.2]]),
    tensor([[0.1], [1.0]]),
    tensor([[1], [0]]),
    0.2,
    10,
  );
  assertClose(loss.mean(), [0.4825]);
  assertClose(outside, [1, 0]);
});

test("beyond huber_delta an error counts linearly", () => {
  assertClose(valueLoss(tensor([[3]]), tensor([[3]]), tensor([[0]]), 0.2, 1).loss, [1 * (3 - 0.5)]);
});
