import assert from "node:assert/strict";
import { test } from "node:test";
import { cat, tensor } from "#tensor";
import { pillowBicubic, pillowResize } from "./pillow-resize.ts";
import { pillowResizeAll } from "./pillow-tensors.ts";

/** 5 rows of 7 pixels, the same formula that was given to Pillow 12 to record the numbers below. */
const image = Uint8Array.from({ length: 5 * 7 * 3 }, (_, i) => {
  const [c, x, y] = [i % 3, Math.floor(i / 3) % 7, Math.floor(i / 21)];
  return (x * 37 + y * 91 + c * 53 + x * y * 11) % 256;
});

test("shrinking gives Pillow's bytes", () => {
  const pillow = [
    56, 114, 164, 129, 149, 146, 123, 149, 172, 159, 133, 122, 153, 143, 115, 140, 126, 119, 133, 118, 100,
    116, 111, 130, 100, 157, 139, 112, 131, 97, 115, 134, 114, 88, 146, 132,
  ];
  assert.deepEqual([...pillowBicubic(image, [5, 7], [3, 4])], pillow);
});

test("growing gives Pillow's bytes, clipped where the cubic overshoots", () => {
  const pillow = [
    0, 48, 101, 18, 71, 124, 49, 102, 159, 78, 132, 194, 106, 169, 222, 143, 198, 255, 174, 244, 128, 204,
    171, 25, 228, 3, 68,
  ];
  assert.deepEqual([...pillowBicubic(image, [5, 7], [6, 9]).subarray(0, 27)], pillow);
});

test("the same size gives the same bytes", () => {
  assert.deepEqual(pillowBicubic(image, [5, 7], [5, 7]), image);
});

test("many pictures at once become the same bytes as one by one", () => {
  const one = tensor(image, { shape: [1, 5, 7, 3] });
  const two = cat([one, one.flip(1)], 0);
  for (const filter of ["bicubic", "bilinear"] as const) {
    for (const [height, width] of [
      [3, 4],
      [6, 9],
      [5, 7],
    ] as const) {
      const all = pillowResizeAll(two, [height, width], filter);
      assert.deepEqual(all.shape, [2, height, width, 3]);
      const first = all.select(0, 0).contiguous().data() as Uint8Array;
      assert.deepEqual(first, pillowResize(image, [5, 7], [height, width], filter));
    }
  }
});
