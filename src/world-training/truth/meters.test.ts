import assert from "node:assert/strict";
import { test } from "node:test";
import { full, Generator, randn } from "#tensor";
import { auc, calibrationError, proportion, psnr, ssim } from "./meters.ts";

test("a constant error of 0.02 on a range of 2 is 40 dB, and no error is 60", () => {
  const black = full([2, 3, 16, 16], -1);
  assert.ok(psnr(black, black.add(0.02)).every((value) => Math.abs(value - 40) < 1e-3));
  assert.deepEqual(psnr(black, black), [60, 60]);
});

test("a picture is like itself, less like a shifted one, and least like noise", () => {
  const picture = randn([1, 3, 32, 32], { generator: new Generator(1) }).clamp(-1, 1);
  const [itself] = ssim(picture, picture);
  const [near] = ssim(picture, picture.add(0.1).clamp(-1, 1));
  const [far] = ssim(picture, randn([1, 3, 32, 32], { generator: new Generator(2) }).clamp(-1, 1));
  assert.ok(Math.abs(itself! - 1) < 1e-5);
  assert.ok(itself! > near! && near! > 0.9 && far! < 0.2);
});

test("AUC is the share of pairs in the right order, ties half", () => {
  assert.equal(auc([0.1, 0.2, 0.8, 0.9], [0, 0, 1, 1]), 1);
  assert.equal(auc([0.9, 0.2, 0.8, 0.1], [0, 0, 1, 1]), 0.25);
  assert.equal(auc([0.5, 0.5], [0, 1]), 0.5);
});

test("a reward model that says 0.8 and is right every time is off by 0.2", () => {
  assert.ok(Math.abs(calibrationError([0.8, 0.8], [1, 1]) - 0.2) < 1e-12);
  assert.ok(calibrationError([0.5, 0.5], [1, 0]) < 1e-12);
});

test("Wilson's interval of 8 in 10 is 0.490 to 0.943", () => {
  const { share, low, high } = proportion(8, 10);
  assert.equal(share, 0.8);
  assert.ok(Math.abs(low - 0.49016) < 1e-4 && Math.abs(high - 0.94331) < 1e-4);
  assert.ok(Number.isNaN(proportion(0, 0).share));
});
