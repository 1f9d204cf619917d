import assert from "node:assert/strict";
import { test } from "node:test";
import { Mt19937 } from "./mt19937.ts";

/** Numbers below were printed by NumPy 2.4: `np.random.seed(7)` and the calls named in each test, in this order. */
test("normals, uniforms and integers come out as NumPy's, in any mixture", () => {
  const random = new Mt19937(7);
  const normals = [random.normal(), random.normal(), random.normal()];
  assert.deepEqual(normals, [1.690525703800356, -0.4659373705408328, 0.0328201636785844]);
  const uniforms = [1, 2, 3].map(() => random.uniform(-0.1, 0.25));
  assert.deepEqual(uniforms, [0.07539216228097825, -0.07478210332408347, -0.0060463569643451065]);
  const integers = Array.from({ length: 8 }, () => random.integer(5));
  assert.deepEqual(integers, [4, 0, 4, 0, 3, 2, 3, 4]);
  assert.deepEqual([random.integer(1), random.integer(1)], [0, 0]);
  assert.equal(random.normal(), 0.40751628299650783, "the spare of the fourth normal was kept");
  assert.equal(random.uniform(3, 1), 2.573229292840169);
});

test("the largest seed and a refilled state agree with NumPy", () => {
  const random = new Mt19937(4294967295);
  for (let i = 0; i < 1000; i++) random.double();
  assert.equal(random.double(), 0.9783407784257938);
  assert.deepEqual([random.integer(1e6), random.integer(1e6), random.integer(1e6)], [914637, 626511, 524915]);
});

test("a saved state continues where it was saved, with its spare normal", () => {
  const random = new Mt19937(3);
  random.normal();
  const state = random.save();
  const first = [random.normal(), random.double(), random.normal()];
  random.restore(state);
  assert.deepEqual([random.normal(), random.double(), random.normal()], first);
});

test("a seed out of range is refused", () => {
  for (const seed of [-1, 2 ** 32, 0.5, Number.NaN])
    assert.throws(() => new Mt19937(seed), /a seed is an integer from 0/);
});
