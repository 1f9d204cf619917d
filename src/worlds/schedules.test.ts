import assert from "node:assert/strict";
import { test } from "node:test";
import { rectifiedFlowSteps } from "./opensora/schedule.ts";
import { flowLevels } from "./wan/schedule.ts";

test("at 256 pixels OpenSora's ten timesteps are evenly spaced and their steps cover the whole way", () => {
  const steps = rectifiedFlowSteps(10, [256, 256]);
  assert.deepEqual(
    steps.map(({ timestep }) => Math.round(timestep)),
    [1000, 900, 800, 700, 600, 500, 400, 300, 200, 100],
  );
  assert.ok(Math.abs(steps.reduce((sum, { delta }) => sum + delta, 0) - 1) < 1e-12);
});

test("small pictures spend fewer of OpenSora's steps at high noise", () => {
  const [, second] = rectifiedFlowSteps(10, [64, 64]);
  assert.ok(Math.abs(second!.timestep - 692.3077) < 1e-3);
});

test("Wan's five noise levels are bent by the shift of 5 and end at 0", () => {
  const levels = flowLevels(5);
  assert.deepEqual(
    levels.map(({ sigma }) => sigma.toFixed(4)),
    ["1.0000", "0.9524", "0.8824", "0.7692", "0.5556"],
  );
  assert.ok(Math.abs(levels.reduce((sum, { delta }) => sum + delta, 1)) < 1e-6);
});
