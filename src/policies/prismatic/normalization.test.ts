import assert from "node:assert/strict";
import { test } from "node:test";
import { boundsOf, datasetKey, denormalize, normalize } from "./normalization.ts";

const action = { q01: [-2, 0], q99: [4, 1], min: [-3, 0], max: [5, 1], mask: [true, false] };

test("the middle of [-1, 1] is the middle of the quantiles, and unmasked numbers pass unchanged", () => {
  const bounds = boundsOf(action, "q99", "x");
  const [first, second] = denormalize(Float64Array.of(0, 0.3), bounds);
  assert.ok(Math.abs(first! - 1) < 1e-8);
  assert.equal(second, 0.3);
});

test("extremes are used instead of quantiles when the dataset wants them", () => {
  const [low] = denormalize(Float64Array.of(-1, 0), boundsOf(action, "min_max", "x"));
  assert.equal(low, -3);
});

test("normalizing undoes denormalizing, and clips what lies outside", () => {
  const bounds = boundsOf(action, "q99", "x");
  const there = denormalize(Float64Array.of(0.25, 1), bounds);
  assert.ok(Math.abs(normalize(there, bounds)[0]! - 0.25) < 1e-9);
  assert.equal(normalize([99, 1], bounds)[0], 1);
});

test("a missing mask means that every number is normalized", () => {
  const { mask: _, ...unmasked } = action;
  assert.deepEqual(boundsOf(unmasked, "q99", "x").mask, [true, true]);
});

test("a key is found with and without its _no_noops ending, and an unknown one lists those there are", () => {
  const stats = { libero_10_no_noops: { action }, bridge_orig: { action } };
  assert.equal(datasetKey(stats, "libero_10"), "libero_10_no_noops");
  assert.equal(datasetKey(stats, "bridge_orig"), "bridge_orig");
  assert.throws(
    () => datasetKey(stats, "libero_90"),
    /"libero_90"; there are: libero_10_no_noops, bridge_orig/,
  );
  assert.throws(() => datasetKey(stats, undefined), /unnorm_key is not set/);
  assert.throws(() => datasetKey({}, "x"), /no statistics at all/);
});

test("a single dataset needs no key", () => {
  assert.equal(datasetKey({ only: { action } }, undefined), "only");
});

test("statistics that disagree about their size are refused", () => {
  assert.throws(() => boundsOf({ ...action, mask: [true] }, "q99", "bad.action"), /"bad.action" disagree/);
});

test("bounds that cross, or that leave nothing to move, are refused; a hand that never turns is not", () => {
  const of = (q01: number[], q99: number[], mask?: boolean[]) =>
    boundsOf({ q01, q99, ...(mask && { mask }) }, "q99", "x.action");
  assert.throws(() => of([0, 1], [1, 0]), /lower bound above the upper one in number 1: 1 and 0/);
  assert.throws(() => of([1, 2], [1, 2]), /equal bounds in every number/);
  assert.doesNotThrow(() => of([0, 2], [1, 2]));
  assert.doesNotThrow(() => of([1, 2], [1, 2], [true, false]));
});
