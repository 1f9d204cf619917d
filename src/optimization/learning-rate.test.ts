import assert from "node:assert/strict";
import { test } from "node:test";
import { learningRateFactor, type RateSettings } from "./learning-rate.ts";

const base: RateSettings = { lr: 1e-3, lr_scheduler: "constant", lr_warmup_steps: -1 };
const factors = (changes: Partial<RateSettings>, steps: readonly number[], runSteps = 10): number[] => {
  const factor = learningRateFactor({ ...base, ...changes }, runSteps);
  return steps.map((step) => Number(factor(step).toFixed(6)));
};

test("a constant rate rises over the warm-up and then stays", () => {
  assert.deepEqual(factors({ lr_warmup_steps: 4 }, [0, 1, 3, 4, 9]), [0.25, 0.5, 1, 1, 1]);
  assert.deepEqual(factors({ lr_warmup_steps_ratio: 0.2 }, [0, 1, 2]), [0.5, 1, 1]);
});

test("a cosine falls to its floor at the last step", () => {
  const cosine = { lr_scheduler: "cosine", min_lr: 1e-4 } as const;
  assert.deepEqual(factors(cosine, [0, 5, 10, 20]), [1, 0.55, 0.1, 0.1]);
  assert.deepEqual(factors({ ...cosine, total_training_steps: 20 }, [10]), [0.55]);
});

test("openpi's cosine begins its warm-up at 1 / (warm-up + 1)", () => {
  const openpi = { lr_scheduler: "openpi_cosine", lr_warmup_steps: 4 } as const;
  assert.deepEqual(factors(openpi, [0, 2, 4], 8), [0.2, 0.6, 1]);
});
