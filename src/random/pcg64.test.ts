import assert from "node:assert/strict";
import { test } from "node:test";
import { Pcg64 } from "./pcg64.ts";

/** Printed by NumPy 1.26: `default_rng(seed)`, five `integers(0, 500)`, `shuffle(arange(12))`, three `integers(0, 7)`. */
const recorded: [number, number[], number[], number[]][] = [
  [0, [425, 318, 255, 134, 153], [2, 11, 3, 10, 0, 4, 7, 5, 1, 8, 6, 9], [3, 0, 5]],
  [1234, [489, 488, 493, 190, 85], [1, 0, 8, 9, 5, 10, 3, 11, 7, 6, 4, 2], [3, 1, 4]],
  [2 ** 32 + 5, [66, 387, 389, 235, 439], [11, 10, 1, 9, 0, 5, 2, 3, 7, 4, 6, 8], [6, 3, 6]],
];

for (const [seed, integers, shuffled, more] of recorded) {
  test(`integers and shuffles of seed ${seed} are NumPy's`, () => {
    const random = new Pcg64(seed);
    const draw = (count: number, bound: number) => Array.from({ length: count }, () => random.integer(bound));
    assert.deepEqual(draw(5, 500), integers);
    const values = Array.from({ length: 12 }, (_, i) => i);
    random.shuffle(values);
    assert.deepEqual(values, shuffled);
    assert.deepEqual(draw(3, 7), more);
  });
}

test("a long list is shuffled twice as NumPy does", () => {
  const random = new Pcg64(0);
  const values = Array.from({ length: 4500 }, (_, i) => i);
  random.shuffle(values);
  assert.deepEqual(values.slice(0, 6), [3122, 2816, 1331, 4057, 991, 2230]);
  random.shuffle(values);
  assert.deepEqual(values.slice(0, 3), [535, 3562, 924]);
});

test("a saved generator goes on with the same numbers", () => {
  const random = new Pcg64(11);
  random.integer(10); // leaves half of a draw behind
  const saved = random.save();
  const first = [random.integer(1000), random.integer(1000)];
  random.restore(saved);
  assert.deepEqual([random.integer(1000), random.integer(1000)], first);
});
