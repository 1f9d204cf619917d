import assert from "node:assert/strict";
import { test } from "node:test";
import { EpisodeLog } from "./episode-log.ts";

test("success is told for all episodes and for each instruction", () => {
  const log = new EpisodeLog();
  const tasks = ["open the drawer", "close it", "open the drawer", "never finished"];
  log.enter({ success_once: Float32Array.of(1, 0, 0, 1) }, [0, 1, 2], (slot) => slot === 0, tasks);
  const metrics = log.metrics("env");
  assert.ok(Math.abs(metrics["env/success_once"]! - 1 / 3) < 1e-6);
  assert.equal(metrics["env/success_by_task/open the drawer"], 0.5);
  assert.equal(metrics["env/success_by_task/close it"], 0);
  assert.ok(!Object.hasOwn(metrics, "env/success_by_task/never finished"));
  assert.equal(metrics["env/num_trajectories"], 3);
});
