import { test } from "node:test";
import { assertClose } from "../../test/support/close.ts";
import { matrixOfVector, multiplyRotations, vectorBetween } from "./rotation-vector.ts";

const matrix = (x: number, y: number, z: number): Float64Array => {
  const out = new Float64Array(9);
  matrixOfVector(x, y, z, out);
  return out;
};
const between = (to: Float64Array, from: Float64Array): number[] => {
  const out = new Float64Array(3);
  vectorBetween(to, from, out);
  return [...out];
};

test("a quarter turn about z takes x to y", () => {
  assertClose([...matrix(0, 0, Math.PI / 2)], [0, -1, 0, 1, 0, 0, 0, 0, 1], 1e-15);
});

test("the vector between two rotations turns the one into the other, near half turns too", () => {
  const from = matrix(0.3, -0.2, 0.9);
  const vectors = [
    [0.1, 0.2, 0.3],
    [3.1, 0, 0],
    [0, -3.1, 0.1],
    [0.2, 0.1, 3.05],
    [1e-12, 0, 0],
  ] as const;
  for (const [x, y, z] of vectors) {
    const to = new Float64Array(9);
    multiplyRotations(matrix(x, y, z), from, to);
    assertClose(between(to, from), [x, y, z], 1e-9);
  }
});

test("a turn of more than half comes back as the shorter way", () => {
  assertClose(between(matrix(0, 0, 4), matrix(0, 0, 0)), [0, 0, 4 - 2 * Math.PI], 1e-9);
});
