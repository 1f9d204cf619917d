import { test } from "node:test";
import { tensor } from "#tensor";
import { assertClose } from "../../test/support/close.ts";
import { normalize } from "./normalize.ts";
import type { Ranks } from "./ranks.ts";

test("statistics come from valid entries only, and every entry is shifted by them", async () => {
  const x = tensor([1, 3, 100]);
  const mask = tensor([1, 1, 0], { dtype: "bool" });
  const std = Math.SQRT2 + 1e-5;
  assertClose(await normalize(x, mask), [-1 / std, 1 / std, 98 / std]);
});

test("two ranks with half of the batch each get what one rank gets with all of it", async () => {
  const whole = tensor([1, 4, -2, 7, 0.5, 3]);
  const expected = await normalize(whole);
  // Two ranks that add what the other one handed over.
  const meet = pairOfRanks();
  const [left, right] = await Promise.all([
    normalize(whole.narrow(0, 0, 2), undefined, meet[0]),
    normalize(whole.narrow(0, 2, 4), undefined, meet[1]),
  ]);
  assertClose([...left.toArray(), ...right.toArray()], expected, 1e-6);
});

test("a batch without valid entries is left as it is", async () => {
  assertClose(await normalize(tensor([2, 5]), tensor([0, 0], { dtype: "bool" })), [2, 5]);
});

function pairOfRanks(): [Ranks, Ranks] {
  const waiting: { values: readonly number[]; done: (sum: number[]) => void }[] = [];
  const sum = (values: readonly number[]): Promise<number[]> =>
    new Promise((resolve) => {
      const other = waiting.pop();
      if (!other) return void waiting.push({ values, done: resolve });
      const total = values.map((value, i) => value + (other.values[i] ?? 0));
      resolve(total);
      other.done(total);
    });
  const ranks: Ranks = { sum, max: sum };
  return [ranks, ranks];
}
