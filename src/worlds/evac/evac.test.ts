import assert from "node:assert/strict";
import { test } from "node:test";
import { liberoCamera, quaternionMatrix } from "./camera.ts";
import { relativeAction } from "./poses.ts";
import { ddimSteps, noiseTables, trailingTimesteps } from "./schedule.ts";
import { drawPose, projectPose } from "./trajectory.ts";
import { publishedName } from "./weights.ts";

const tables = noiseTables({
  linear_start: 0.00085,
  linear_end: 0.012,
  rescale_betas_zero_snr: true,
  base_scale: 0.7,
});

test("the last timestep is pure noise and the first keeps its signal", () => {
  assert.equal(tables.alphasCumprod.at(-1), 0);
  assert.ok(Math.abs(tables.alphasCumprod[0]! - (1 - 0.00085)) < 1e-9);
});

test("fifty steps end at 999 and are twenty apart", () => {
  assert.deepEqual(trailingTimesteps(50).slice(0, 3), [19, 39, 59]);
  assert.equal(trailingTimesteps(50).at(-1), 999);
  assert.equal(ddimSteps(tables, 50, 1)[0]?.timestep, 999);
});

test("without eta a step adds no fresh noise, and signal and direction keep unit power", () => {
  for (const step of ddimSteps(tables, 10, 0)) {
    assert.equal(step.sigma, 0);
    assert.ok(Math.abs(step.previousSignal ** 2 + step.direction ** 2 - 1) < 1e-12);
  }
});

test("a quarter turn about z sends x to y", () => {
  const half = Math.SQRT1_2;
  const [first, second] = quaternionMatrix([0, 0, half, half]);
  assert.ok(Math.abs(first![0]!) < 1e-12 && Math.abs(second![0]! - 1) < 1e-12);
});

test("a pose that does not move gives the statistics' zero, and its gripper over 120", () => {
  const pose = [0.1, 0.2, 0.3, 0, 0, 0, 1, 0.6];
  const still = relativeAction(pose, pose, {
    mean: Array<number>(12).fill(0),
    std: Array<number>(12).fill(1),
    gripper: 120,
  });
  assert.deepEqual(still, [0, 0, 0, 0, 0, 0, 0.6 / 120, 0, 0, 0, 0, 0, 0, 0.6 / 120]);
});

test("a half turn and a bit is the short way round", () => {
  const turned = (angle: number): number[] => [0, 0, 0, 0, 0, Math.sin(angle / 2), Math.cos(angle / 2), 0];
  const unit = { mean: Array<number>(12).fill(0), std: Array<number>(12).fill(1 / 3), gripper: 120 };
  const yaw = relativeAction(turned(3), turned(-3), unit)[5]!;
  assert.ok(Math.abs(yaw - (2 * Math.PI - 6)) < 1e-6);
});

test("a gripper behind the picture's edge leaves an empty map", () => {
  const outside = [50, 50, 50, 0, 0, 0, 1, 0];
  const { x, y } = projectPose(outside, liberoCamera, [64, 64])[0]!;
  assert.ok(x < 0 || x >= 64 || y < 0 || y >= 64);
  assert.equal(
    drawPose(outside, liberoCamera, [64, 64]).every((value) => value === 50),
    true,
  );
});

test("the autoencoder's decoder levels are counted from the other end in the files", () => {
  const name = "first_stage_model.decoder.up_blocks.0.resnets.2.conv_shortcut.weight";
  assert.equal(publishedName(name, 4), "first_stage_model.decoder.up.3.block.2.nin_shortcut.weight");
  assert.equal(publishedName("model.diffusion_model.out.0.bias", 4), "model.diffusion_model.out.0.bias");
});
