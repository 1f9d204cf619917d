import assert from "node:assert/strict";
import { test } from "node:test";
import { full, zeros } from "#tensor";
import { detailWeights, weightedError } from "./detail.ts";

test("a thin line counts more than the ground around it, and a broad field only at its edge", () => {
  const picture = full([1, 3, 16, 16], -0.5);
  picture.select(3, 4).fill_(1); // a line of one pixel
  picture.narrow(3, 10, 6).fill_(1); // a field
  const row = detailWeights(picture, 4).select(2, 8).flatten().toArray().map(Number);
  // Four of the five columns around the line are ground: it differs by 1.5 · 4 / 5 from their mean.
  assert.ok(Math.abs(row[4]! - (1 + 4 * 1.2)) < 1e-5, `on the line ${row[4]}`);
  assert.ok(row[13]! < 1.01, `inside the field ${row[13]}`);
  assert.ok(row[10]! > 2, `at its edge ${row[10]}`);
  assert.ok(row[0]! < row[4]!, `far away ${row[0]}`);
});

test("without a weight for details the error is the plain one", () => {
  const picture = zeros([2, 3, 8, 8]).add(0.25);
  const error = full([2, 3, 8, 8], 0.5);
  const loss = weightedError(error, detailWeights(picture, 0), 2);
  assert.ok(Math.abs(Number(loss.item()) - (0.5 + 2 * 0.25)) < 1e-6);
});
