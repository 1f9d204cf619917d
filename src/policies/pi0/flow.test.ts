import assert from "node:assert/strict";
import { test } from "node:test";
import { full, Generator, ones, type Tensor, tensor, zeros } from "#tensor";
import { assertClose } from "../../../test/support/close.ts";
import { drawCertain, drawChains, drawTimes, prolong } from "./draws.ts";
import { flowTimes, gaussianEntropy, logDensity, type NoiseMethod, transition } from "./flow.ts";

/** One row, one action of one number: x = 0.8, velocity 0.4, at step `step` of four. */
function step(method: NoiseMethod, index: number, noisy: boolean, level = 0.5, learned?: Tensor) {
  return transition(
    full([1, 1, 1], 0.8),
    full([1, 1, 1], 0.4),
    flowTimes(4, "cpu"),
    { step_B: tensor([BigInt(index)]), noisy_B: tensor([noisy]) },
    { method, level },
    learned,
  );
}

test("times fall from one to zero in equal steps", () => {
  assertClose(flowTimes(4, "cpu"), [1, 0.75, 0.5, 0.25, 0]);
});

test("a certain step follows the velocity, whatever the method", () => {
  for (const method of ["flow_sde", "flow_cps", "flow_noise", "flow_ode"] as const) {
    const { mean, deviation } = step(method, 1, false, 0.5, ones([1, 1, 1]));
    assertClose(mean, [0.8 - 0.25 * 0.4]);
    assertClose(deviation, [0]);
  }
});

test("flow_sde at t = 1 takes its strength from the next time", () => {
  // sigma² = 0.25 · 1 / (1 − 0.75) = 1; actions 0.4, noise 0.8; weights 0.25 and 0.75 − 1 · 0.25 / 2
  const { mean, deviation } = step("flow_sde", 0, true);
  assertClose(mean, [0.4 * 0.25 + 0.8 * 0.625]);
  assertClose(deviation, [0.5]);
});

test("flow_sde drifts against its noise in the middle of the way", () => {
  // t = 0.5: sigma² = 0.25; actions 0.6, noise 1.0; weights 0.75 and 0.25 − 0.25 · 0.25 / 1
  const { mean, deviation } = step("flow_sde", 2, true);
  assertClose(mean, [0.6 * 0.75 + 1.0 * 0.1875]);
  assertClose(deviation, [0.25]);
});

test("flow_cps turns noise by an angle, and its last step is certain", () => {
  const turned = step("flow_cps", 1, true, 2 / 3); // sixty degrees
  assertClose(turned.mean, [0.5 * 0.5 + 0.9 * 0.5 * 0.5]);
  assertClose(turned.deviation, [0.5 * Math.sqrt(0.75)]);
  const last = step("flow_cps", 3, true);
  assertClose(last.deviation, [0]);
  assertClose(logDensity(ones([1, 1, 1]), last), [0]);
});

test("flow_noise keeps the mean and takes the learned deviation", () => {
  const { mean, deviation } = step("flow_noise", 1, true, 0.5, full([1, 1, 1], 0.1));
  assertClose(mean, [0.7]);
  assertClose(deviation, [0.1]);
});

test("the density is the normal one, and zero where nothing was random", () => {
  const mean = zeros([3]);
  assertClose(logDensity(tensor([0, 1, 2]), { mean, deviation: tensor([1, 2, 0]) }), [
    -0.5 * Math.log(2 * Math.PI),
    -0.5 * Math.log(2 * Math.PI) - Math.log(2) - 0.125,
    0,
  ]);
  assertClose(logDensity(tensor([0, 1, 2]), { mean, deviation: ones([3]) }, true), [0, -1, -4]);
  assertClose(gaussianEntropy(tensor([1, 0.1])), [1.4189385, 1.4189385 + Math.log(0.1)], 1e-5);
});

const shape = { steps: 3, horizon: 2, size: 4, joint: false, ignoreLast: false };

test("with a stream per row, a row's draws do not depend on its neighbors", () => {
  const streams = (...seeds: number[]) => seeds.map((seed) => new Generator(seed));
  const three = drawChains(3, shape, streams(1, 2, 3));
  const one = drawChains(1, shape, streams(2));
  assert.deepEqual(three.noise.select(1, 1).toArray(), one.noise.select(1, 0).toArray());
  assert.deepEqual(three.steps_BN.select(0, 1).toArray(), one.steps_BN.select(0, 0).toArray());
  assert.throws(() => drawChains(2, shape, streams(1)), /internal: 1 generators for 2 rows/);
});

test("each row has one noisy step; never the last with ignoreLast, every one in joint mode, none when certain", () => {
  const generator = new Generator(1);
  const steps = drawChains(64, shape, generator).steps_BN;
  assert.deepEqual(new Set(steps.toArray().map(Number)), new Set([0, 1, 2]));
  for (const row of steps.nested() as number[][]) assert.equal(new Set(row).size, 1);
  const early = drawChains(64, { ...shape, ignoreLast: true }, generator).steps_BN;
  assert.deepEqual(new Set(early.toArray().map(Number)), new Set([0, 1]));
  const joint = drawChains(2, { ...shape, joint: true }, generator).steps_BN;
  assert.deepEqual(joint.toArray().map(Number), [0, 1, 2, 0, 1, 2]);
  assert.deepEqual(new Set(drawCertain(2, shape, undefined).steps_BN.toArray().map(Number)), new Set([-1]));
});

test("times of demonstrations lean towards noise, as Beta(1.5, 1) does, and stay within their bounds", () => {
  const times = drawTimes(20000, new Generator(1));
  assert.ok(times.amin().item() >= 0.001 && times.amax().item() <= 1);
  assert.ok(Math.abs(times.mean().item() - (0.999 * 0.6 + 0.001)) < 0.01);
});

test("short demonstrations are prolonged by their last action", () => {
  assert.deepEqual(prolong(tensor([[[1], [2]]]), 4).toArray(), [1, 2, 2, 2]);
});
