import assert from "node:assert/strict";
import { test } from "node:test";
import { actionTokens } from "./action-tokens.ts";

const tokens = actionTokens(32000, 256);

test("the highest id is the lowest value, and the two lowest ids are the same highest value", () => {
  const [low, high, twin] = tokens.decode([31999, 31745, 31744]);
  assert.equal(low, -1 + 1 / 255);
  assert.ok(Math.abs(high! - (1 - 1 / 255)) < 1e-12);
  assert.equal(twin, high);
});

test("decoding an encoded value comes back within half a bin", () => {
  const values = Array.from({ length: 201 }, (_, i) => -1 + i / 100);
  const back = tokens.decode(tokens.encode(values));
  for (const [i, value] of values.entries()) {
    assert.ok(Math.abs(back[i]! - value) <= 1 / 255 + 1e-12, `${value} came back as ${back[i]}`);
  }
});

test("encoding what an id means gives that id, except for the doubled lowest one", () => {
  const ids = Array.from({ length: 255 }, (_, i) => 31745 + i);
  assert.deepEqual([...tokens.encode(tokens.decode(ids))].map(Number), ids);
});

test("values beyond the bounds are clipped, and an upper bound lands in the lowest id", () => {
  assert.deepEqual([...tokens.encode([-7, -1, 1, 7])].map(Number), [31999, 31999, 31744, 31744]);
});

test("an id that is no action is refused by number", () => {
  assert.throws(() => tokens.decode([31743]), /token 31743 is not an action: actions are 31744 to 31999/);
});
