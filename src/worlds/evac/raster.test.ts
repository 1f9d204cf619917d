import assert from "node:assert/strict";
import { test } from "node:test";
import { drawDisc, drawThickLine, newCanvas } from "./raster.ts";

/** The drawing of OpenCV 4.11: `cv2.circle((5, 5), 4, filled)`, then `cv2.line((5, 5), (14, 9), thickness 3)`. */
const opencv = `
................
.....#..........
...#####........
..###oo##.......
..##ooooo.......
.##ooooooooo....
..##oooooooooo..
..##oooooooooooo
...###oooooooooo
.....#..oooooooo
...........ooooo
.............oo.
`;

test("a disc and a thick line have OpenCV's pixels", () => {
  const canvas = newCanvas(16, 12, 0);
  drawDisc(canvas, { x: 5, y: 5 }, 4, [1, 1, 1]);
  drawThickLine(canvas, { x: 5, y: 5 }, { x: 14, y: 9 }, 3, [2, 2, 2]);
  const rows = Array.from({ length: 12 }, (_, y) =>
    Array.from({ length: 16 }, (_, x) => ".#o"[canvas.data[(y * 16 + x) * 3]!]).join(""),
  );
  assert.equal(rows.join("\n"), opencv.trim());
});

test("lines that leave the picture, or lie outside it, touch nothing else", () => {
  const canvas = newCanvas(8, 8, 0);
  drawThickLine(canvas, { x: -40, y: -40 }, { x: -20, y: -30 }, 8, [1, 1, 1]);
  assert.equal(
    canvas.data.every((value) => value === 0),
    true,
  );
  drawThickLine(canvas, { x: 4, y: 4 }, { x: 4000, y: 4 }, 2, [1, 1, 1]);
  assert.equal(canvas.data[(4 * 8 + 7) * 3], 1);
  assert.equal(canvas.data[3], 0);
});

test("a line that ends ten billion pixels above the picture is the one that ends just outside it", () => {
  const [near, far] = [-60, -1e10].map((y) => {
    const canvas = newCanvas(8, 8, 0);
    drawThickLine(canvas, { x: 4, y: 6 }, { x: 4, y }, 3, [1, 1, 1]);
    return canvas.data;
  });
  assert.deepEqual(far, near);
  assert.equal(near![4 * 3], 1);
});
