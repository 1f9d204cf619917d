import assert from "node:assert/strict";
import { test } from "node:test";
import { exactCos, exactSin } from "./exact-trig.ts";

/** [angle, sine, cosine] as NumPy and glibc give them; V8 gives another last bit for some of each. */
const known: [number, number, number][] = [
  [-0.4405622525030862, -0.4264480966008464, 0.9045120346935772],
  [-0.4726612063468169, -0.45525732609197084, 0.8903599087108477],
  [1.3616022912522554, 0.9781986083220083, 0.2076715740704207],
  [1.0249924453108452, 0.8547102678189721, 0.519105343918574],
  [1.965961305901689, 0.9229330664910202, -0.3849604587194403],
  [-0.7277672598396898, -0.665204193356745, 0.7466614903291867],
  [-0.6940215602499853, -0.6396336388444092, 0.7686799126155567],
  [-0.5931762160210035, -0.558997459193134, 0.829169367871016],
  [-0.4742245569878618, -0.45664871391982736, 0.8896470941195546],
  [2.324926383726668, 0.7288674296562482, -0.6846548546430488],
  [-1.2046235948770034, -0.9337045130797206, 0.3580445255196089],
];

test("sines and cosines are those of NumPy to the last bit", () => {
  for (const [angle, sine, cosine] of known) {
    assert.equal(exactSin(angle), sine);
    assert.equal(exactCos(angle), cosine);
  }
});

test("exact values and signs hold at the corners", () => {
  assert.equal(exactSin(0), 0);
  assert.equal(exactCos(0), 1);
  assert.equal(exactSin(Math.PI / 2), 1);
  assert.equal(exactCos(Math.PI / 2), 6.123233995736766e-17);
  assert.equal(exactSin(-0.3), -exactSin(0.3));
  assert.equal(exactCos(-0.3), exactCos(0.3));
});

test("results agree with the engine's within one unit in the last place", () => {
  for (let angle = -6; angle < 6; angle += 0.0137) {
    assert.ok(Math.abs(exactSin(angle) - Math.sin(angle)) <= 1.2e-16);
    assert.ok(Math.abs(exactCos(angle) - Math.cos(angle)) <= 1.2e-16);
  }
});
