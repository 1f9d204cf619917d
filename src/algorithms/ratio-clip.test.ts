import assert from "node:assert/strict";
import { test } from "node:test";
import { type Tensor, tensor } from "#tensor";
import { assertClose } from "../../test/support/close.ts";
import { ratioClip } from "./ratio-clip.ts";

const settings = { clip_ratio_low: 0.2, clip_ratio_high: 0.28 };
const single = (logRatio: number, advantage: number, extra = {}): Tensor =>
  ratioClip(tensor([[[logRatio]]]), tensor([[[0]]]), tensor([[[advantage]]]), undefined, {
    ...settings,
    ...extra,
  }).loss;

test("inside the bounds the loss is minus the advantage times the ratio", () => {
  assertClose(single(Math.log(1.1), 2), [-2.2]);
});

test("a good action gains nothing above 1 + clip_ratio_high", () => {
  assertClose(single(Math.log(2), 1), [-1.28]);
});

test("a bad action gains nothing below 1 - clip_ratio_low", () => {
  assertClose(single(Math.log(0.5), -1), [0.8]);
});

test("the clip never hides a loss: a good action that became unlikely keeps its full gradient", () => {
  assertClose(single(Math.log(0.5), 1), [-0.5]);
});

test("the dual clip bounds the loss of a bad action that became likely, and nothing else", () => {
  assertClose(single(Math.log(5), -2), [10]);
  assertClose(single(Math.log(5), -2, { clip_ratio_c: 3 }), [6]);
  assertClose(single(Math.log(5), 2, { clip_ratio_c: 3 }), [-2.56]);
});

test("log ratios can be bounded before the exponential", () => {
  assertClose(single(3, -1, { clip_log_ratio_max: 0 }), [1]);
});

test("a masked entry with an infinite log-probability leaves the gradient finite", () => {
  const logProbs = tensor([[[0.1], [-1]]]).requiresGrad_();
  const old = tensor([[[0], [Number.NEGATIVE_INFINITY]]]);
  const mask = tensor([[[1], [0]]], { dtype: "bool" });
  const { loss } = ratioClip(logProbs, old, tensor([[[1]]]), mask, settings);
  loss.mul(mask).sum().backward();
  const gradient = (logProbs.grad as Tensor).toArray();
  assert.ok(
    gradient.every((value) => Number.isFinite(Number(value))),
    String(gradient),
  );
});
