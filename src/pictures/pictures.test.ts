import assert from "node:assert/strict";
import { test } from "node:test";
import { decodePng } from "#formats";
import { Captions, wrap } from "./caption.ts";
import { drawChart } from "./chart.ts";
import { beside, blank, enlarge, tile } from "./rgb.ts";
import { wordWidth } from "./svg.ts";

test("enlarging repeats every pixel", () => {
  const picture = { width: 2, height: 1, data: Uint8Array.of(1, 2, 3, 4, 5, 6) };
  const { width, height, data } = enlarge(picture, 2);
  assert.deepEqual([width, height], [4, 2]);
  assert.deepEqual([...data.subarray(0, 12)], [1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6]);
  assert.deepEqual(data.subarray(12), data.subarray(0, 12));
});

test("five pictures are tiled in two rows, down the columns first, with a black place left over", () => {
  const { width, height, data } = tile([1, 2, 3, 4, 5].map((value) => blank(1, 1, value)));
  assert.deepEqual([width, height], [3, 2]);
  const reds = [...data].filter((_, i) => i % 3 === 0);
  assert.deepEqual(reds, [1, 3, 5, 2, 4, 0]);
});

test("pictures side by side keep their pixels, with white between them", () => {
  const { width, data } = beside([blank(1, 1, 7), blank(2, 1, 9)], 1);
  assert.equal(width, 4);
  assert.deepEqual(
    [...data].filter((_, i) => i % 3 === 0),
    [7, 255, 9, 9],
  );
});

test("text breaks at spaces where the room ends, and a longer word stands alone", () => {
  const room = wordWidth("put the cube", 14) + 1;
  assert.deepEqual(wrap("put the cube in", room), ["put the cube", "in"]);
  assert.deepEqual(wrap("incomprehensibilities in", 20), ["incomprehensibilities", "in"]);
  assert.deepEqual(wrap("", room), []);
});

test("a caption stands below the picture and leaves every pixel of it alone", () => {
  const captions = new Captions(128, 2);
  const { width, height, data } = captions.below(blank(128, 64, 100), [{ text: "pick up" }]);
  assert.deepEqual([width, height], [128, 64 + captions.height]);
  assert.equal(captions.height % 2, 0);
  const rows = 3 * 128 * 64;
  assert.ok(data.subarray(0, rows).every((value) => value === 100));
  const below = new Set(data.subarray(rows));
  assert.ok(below.has(255) && below.has(0x14), "white letters on a dark strip");
});

test("captions of any text have one size, also hostile ones and those that are too long", () => {
  const captions = new Captions(96, 2);
  const strips = ["", "a", "<script>&\u0000\u001b[31m\"'", "word ".repeat(200), "日本語 ☃", "x".repeat(5000)];
  for (const text of strips) {
    const { width, height } = captions.below(blank(96, 32, 0), [{ text }, { text: "step 1" }]);
    assert.deepEqual([width, height], [96, 32 + captions.height], text.slice(0, 20));
  }
});

test("a chart is an SVG in our font and a PNG of twice its size", async () => {
  const { svg, png } = await drawChart({
    title: "Success & failure",
    width: 200,
    height: 100,
    data: { values: [{ x: 1, y: 2 }] },
    mark: "point",
    encoding: { x: { field: "x", type: "quantitative" }, y: { field: "y", type: "quantitative" } },
  });
  const [, width] = /<svg[^>]* width="(\d+)"/.exec(svg) ?? [];
  assert.match(svg, /font-family="Inter"/);
  assert.match(svg, /Success &amp; failure/);
  assert.ok(Number(width) < 320, `text is measured, not guessed: ${width} units for a plot of 200`);
  assert.ok(Math.abs(decodePng(png).width - 2 * Number(width)) <= 2);
});
