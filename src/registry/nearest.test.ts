import assert from "node:assert/strict";
import { test } from "node:test";
import { nearest } from "./index.ts";

test("two swapped letters, a missing one or a wrong one are a slip", () => {
  for (const slip of ["trian", "tran", "traim"])
    assert.equal(nearest(slip, ["start", "train", "eval"]), "train");
});

test("a word that shares little with any is not guessed at", () => {
  assert.equal(nearest("banana", ["train", "eval"]), undefined);
  assert.equal(nearest("", ["train"]), undefined);
  assert.equal(nearest("train", []), undefined);
});

test("the closer of two is meant", () => {
  assert.equal(nearest("clip_ratio_hi", ["clip_ratio_low", "clip_ratio_high"]), "clip_ratio_high");
});
