import assert from "node:assert/strict";
import { test } from "node:test";
import { xorshift32 } from "#random";
import { drawWindowStart } from "./window-starts.ts";

function drawn(length: number, aligned: number): number[] {
  const random = xorshift32(1);
  return Array.from({ length: 4000 }, () => drawWindowStart(length, { chunk: 8, aligned }, random));
}

test("aligned windows begin where imagined chunks do, each as often as the others", () => {
  const starts = drawn(27, 1);
  assert.deepEqual(
    [...new Set(starts)].sort((a, b) => a - b),
    [0, 8, 16],
  );
  for (const at of [0, 8, 16]) {
    const share = starts.filter((start) => start === at).length / starts.length;
    assert.ok(Math.abs(share - 1 / 3) < 0.03, `${at}: ${share}`);
  }
});

test("other windows begin anywhere, and none reaches beyond its episode", () => {
  const starts = drawn(27, 0.5);
  assert.equal(new Set(starts).size, 20);
  assert.ok(Math.max(...starts) <= 19);
  const first = starts.filter((start) => start === 0).length / starts.length;
  assert.ok(Math.abs(first - (1 / 6 + 1 / 40)) < 0.03, `${first}`);
  assert.deepEqual(new Set(drawn(8, 0.5)), new Set([0]), "an episode of one chunk has one window");
});
