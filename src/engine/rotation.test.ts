import assert from "node:assert/strict";
import { test } from "node:test";
import { rotationOfVector } from "./rotation.ts";

/** Computed by NumPy as robosuite 1.4.1's axisangle2quat and quat2mat do, with numba's promotion of single to double. */
const recorded = [
  {
    vector: [0.1, -0.2, 0.3],
    matrix: [
      0.9357548039406538, -0.3029327392578125, -0.180540069937706, 0.28316497802734375, 0.950580617878586,
      -0.1273345798254013, 0.21019171178340912, 0.06803131848573685, 0.9752903101034462,
    ],
  },
  {
    vector: [0.5, 0.5, -0.5],
    matrix: [
      0.7652395963668823, 0.5571824908256531, 0.3224220871925354, -0.3224220871925354, 0.7652395963668823,
      -0.5571824908256531, -0.5571824908256531, 0.3224220871925354, 0.7652395963668823,
    ],
  },
];

test("a rotation is rounded to single precision exactly where robosuite rounds it", () => {
  for (const { vector, matrix } of recorded) {
    const out = new Float64Array(9);
    const [x = 0, y = 0, z = 0] = vector;
    rotationOfVector(x, y, z, out);
    assert.deepEqual([...out], matrix);
  }
});
