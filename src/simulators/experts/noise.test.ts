import assert from "node:assert/strict";
import { test } from "node:test";
import { Mt19937 } from "#random";
import { ActionNoise, noNoise } from "./noise.ts";

const still = Float64Array.of(0, 0, 0, 0, 0, 0, -1);

test("without noise an action is executed as it is", () => {
  const noise = new ActionNoise(noNoise, new Mt19937(0));
  assert.deepEqual(noise.disturb(still), still);
});

test("persistent noise has the size that was asked for, and each step resembles the one before", () => {
  const noise = new ActionNoise({ size: 0.1, persistence: 0.8, gripperFlips: 0 }, new Mt19937(1));
  const xs = Array.from({ length: 20_000 }, () => noise.disturb(still)[0]!);
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = mean(xs.map((x) => x * x));
  assert.ok(Math.abs(Math.sqrt(variance) - 0.1) < 0.01, `size ${Math.sqrt(variance)}`);
  const correlation = mean(xs.slice(1).map((x, i) => x * xs[i]!)) / variance;
  assert.ok(Math.abs(correlation - 0.8) < 0.03, `correlation ${correlation}`);
});

test("noise leaves rotations alone, keeps actions within bounds and does not change its input", () => {
  const noise = new ActionNoise({ size: 5, persistence: 0, gripperFlips: 0 }, new Mt19937(2));
  for (let step = 0; step < 100; step++) {
    const disturbed = noise.disturb(still);
    assert.ok(disturbed.every((value) => Math.abs(value) <= 1));
    assert.deepEqual([...disturbed.subarray(3, 6)], [0, 0, 0]);
  }
  assert.deepEqual([...still], [0, 0, 0, 0, 0, 0, -1]);
});

test("gripper commands are turned as often as asked for", () => {
  const noise = new ActionNoise({ size: 0, persistence: 0, gripperFlips: 0.25 }, new Mt19937(3));
  const flips = Array.from({ length: 4000 }, () => noise.disturb(still)[6]).filter((g) => g === 1).length;
  assert.ok(Math.abs(flips / 4000 - 0.25) < 0.03, `${flips}`);
});
