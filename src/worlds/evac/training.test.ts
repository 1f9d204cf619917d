import assert from "node:assert/strict";
import { test } from "node:test";
import { AdamW } from "#optimization";
import { Generator, grad, rand, randn, stack, type Tensor, tensor, zeros } from "#tensor";
import { ActionPredictor } from "./action-predictor.ts";
import { pinholeCamera } from "./camera.ts";
import { measureStatistics, poseChange, relativeAction } from "./poses.ts";
import { beginAsIdentity, walk, walkLoss } from "./predictor-training.ts";
import { scheduleBuffers } from "./schedule-buffers.ts";
import { drawVelocityLesson, lessonTables } from "./training.ts";
import { projectPose } from "./trajectory.ts";

const noise = { linear_start: 0.00085, linear_end: 0.012, rescale_betas_zero_snr: true, base_scale: 0.7 };
const how = {
  time_mean: 0,
  time_std: 1,
  pure_noise_share: 0.25,
  memory_noise: 0,
  motion_weight: 0,
  emphasis_weight: 0,
};
const largest = (x: Tensor): number => Number(x.abs().amax().item());

function lessonOf(rows: number) {
  const generator = new Generator(1);
  const video = (frames: number): Tensor => randn([rows, 2, frames, 1, 1], { generator });
  const fresh = video(3);
  const batch = {
    memory: video(2),
    fresh,
    maps: video(3),
    actions: zeros([rows, 3, 14]),
    tokens: zeros([rows, 1, 1]),
    emphasis: zeros([rows, 1, 3, 1, 1]),
  };
  const tables = lessonTables(noise, "cpu");
  return { fresh, tables, lesson: drawVelocityLesson(batch, how, tables, generator) };
}

test("a lesson's velocity leads from its noisy latents to the clean ones, scaled as the sampler rescales them", () => {
  const { fresh, tables, lesson } = lessonOf(64);
  const at = (table: Tensor): Tensor => table.indexSelect(0, lesson.timestep.long()).view([64, 1, 1, 1, 1]);
  const clean = lesson.noisy.mul(at(tables.signal)).sub(lesson.velocity.mul(at(tables.noise)));
  assert.ok(largest(clean.sub(fresh.mul(at(tables.scale)))) < 1e-5);
});

test("a quarter of the lessons begins at pure noise when a quarter is asked for", () => {
  const { lesson } = lessonOf(2000);
  const pure = Number(lesson.timestep.eq(999).float().mean().item());
  assert.ok(Math.abs(pure - 0.25) < 0.04, `${pure}`);
});

test("the tables that a checkpoint carries hold the schedule that is sampled", () => {
  const buffers = scheduleBuffers(noise);
  const { signal } = lessonTables(noise, "cpu");
  assert.ok(largest(buffers.get("sqrt_alphas_cumprod")!.sub(signal)) < 1e-7);
  assert.ok(
    [...buffers.values()].every((table) => table.toArray().every((value) => Number.isFinite(Number(value)))),
  );
});

test("a fresh action predictor says that the hand stands still, and walks that move call it wrong", () => {
  const predictor = new ActionPredictor({ action: 2, pose: 3, hidden: 16, motion: true });
  const generator = new Generator(2);
  for (const layer of Object.values(predictor.network))
    layer.weight.detach().copy_(rand([...layer.weight.shape], { generator }));
  beginAsIdentity(predictor);
  const scale = { mean: tensor([[0.5, -2, 1]]), std: tensor([[2, 0.1, 1]]) };
  const from = { pose: randn([5, 3], { generator }), motion: randn([5, 3], { generator }) };
  const actions = randn([5, 4, 2], { generator });
  const walked = walk(predictor, scale, from, actions);
  assert.deepEqual(walked.shape, [5, 4, 3]);
  assert.ok(largest(walked.sub(from.pose.unsqueeze(1))) < 1e-5);
  const poses = from.pose.unsqueeze(1).expand([5, 4, 3]).add(0.1);
  assert.ok(Number(walkLoss(predictor, scale, { ...from, actions, poses }).item()) > 0.1);
});

test("a predictor that sees motion learns a hand that coasts, one that does not cannot", () => {
  // the hand goes on with half of its last change, whatever the action
  const generator = new Generator(6);
  const pose = randn([256, 2], { generator });
  const motion = randn([256, 2], { generator });
  const actions = zeros([256, 3, 1]);
  const steps = [0.5, 0.25, 0.125].map((share) => motion.mul(share));
  const poses = stack(
    [0, 1, 2].map((k) => steps.slice(0, k + 1).reduce((sum, step) => sum.add(step), pose)),
    1,
  );
  const scale = { mean: zeros([1, 2]), std: zeros([1, 2]).add(1) };
  const [seeing, blind] = [true, false].map((sees) => {
    const predictor = new ActionPredictor({ action: 1, pose: 2, hidden: 32, motion: sees });
    for (const layer of Object.values(predictor.network)) {
      const spread = 1 / Math.sqrt(layer.weight.shape[1]!);
      layer.weight.detach().copy_(randn([...layer.weight.shape], { generator }).mul(spread));
    }
    beginAsIdentity(predictor);
    const parameters = predictor.namedParameters();
    const optimizer = new AdamW([{ parameters, lr: 0.01 }]);
    const off = (): Tensor => walkLoss(predictor, scale, { pose, motion, actions, poses });
    for (let step = 0; step < 200; step++) {
      const gradients = grad([off()], [...parameters.values()]) as Tensor[];
      optimizer.step(new Map([...parameters.keys()].map((name, i) => [name, gradients[i]!])));
    }
    return Number(off().item());
  });
  assert.ok(seeing! < 0.5 * blind!, `${seeing} and ${blind}`);
});

test("under measured statistics relative actions have no mean and unit spread; a still axis stays small", () => {
  const pose = (x: number): number[] => [x, 0.2, 0.3, 0, 0, 0, 1, 0.05];
  const places = [0, 0.01, 0.05, 0.03, 0.08, 0.02].map(pose);
  const changes = places.slice(1).map((place, i) => poseChange(places[i]!, place));
  const statistics = measureStatistics(changes, 0.1);
  const rows = places.slice(1).map((place, i) => relativeAction(places[i]!, place, statistics));
  const xs = rows.map((row) => row[0]!);
  const mean = xs.reduce((sum, x) => sum + x, 0) / xs.length;
  const spread = Math.sqrt(xs.reduce((sum, x) => sum + (x - mean) ** 2, 0) / xs.length);
  assert.ok(Math.abs(mean) < 1e-4 && Math.abs(spread - 1) < 1e-4, `${mean} ${spread}`);
  assert.ok(rows.every((row) => Math.abs(row[1]!) < 1e-6 && Math.abs(row[6]! - 0.5) < 1e-9));
});

test("a simulator's camera shows what lies straight ahead in the middle, and its right on the left", () => {
  // Half a meter above the table, looking down; its right is the world's x.
  const camera = pinholeCamera({ position: [0, 0, 0.5], orientation: [1, 0, 0, 0], fovy: 90 }, [64, 64]);
  const [ahead] = projectPose([0, 0, 0, 0, 0, 0, 1, 0], camera, [64, 64]);
  assert.deepEqual([ahead!.x, ahead!.y], [31.5, 31.5]);
  const [right] = projectPose([0.25, 0, 0, 0, 0, 0, 1, 0], camera, [64, 64]);
  assert.ok(Math.abs(right!.x - (31.5 - 16)) < 1e-9); // pictures are turned, as policies see them
});
