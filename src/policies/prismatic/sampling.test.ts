import assert from "node:assert/strict";
import { test } from "node:test";
import { Generator, tensor } from "#tensor";
import { assertClose } from "../../../test/support/close.ts";
import { judge, logDistribution, sampleTokens } from "./sampling.ts";

const logits = () => tensor([[[0, Math.log(2), Math.log(5)]]]); // probabilities 1/8, 2/8, 5/8

test("without temperature and top-k, probabilities are the softmax of the logits", () => {
  assertClose(logDistribution(logits(), { temperature: 1, topK: 0 }).exp().toArray(), [1 / 8, 2 / 8, 5 / 8]);
});

test("a temperature of two takes the square root of the odds", () => {
  const total = 1 + Math.SQRT2 + Math.sqrt(5);
  const expected = [1 / total, Math.SQRT2 / total, Math.sqrt(5) / total];
  assertClose(logDistribution(logits(), { temperature: 2, topK: 0 }).exp().toArray(), expected);
});

test("top-k forbids the rest and shares their probability", () => {
  const logProbs = logDistribution(logits(), { temperature: 1, topK: 2 });
  assert.equal(logProbs.toArray()[0], Number.NEGATIVE_INFINITY);
  assertClose(logProbs.exp().toArray(), [0, 2 / 7, 5 / 7]);
});

test("entropy is in nats, counts forbidden tokens as nothing, and has a finite gradient", () => {
  const x = logits().requiresGrad_();
  const { entropy_BA } = judge(logDistribution(x, { temperature: 1, topK: 2 }), tensor([[2n]]), "learned");
  assertClose(entropy_BA!.toArray(), [-(2 / 7) * Math.log(2 / 7) - (5 / 7) * Math.log(5 / 7)]);
  entropy_BA!.sum().backward();
  assert.ok(x.grad!.toArray().every(Number.isFinite));
  assert.equal(x.grad!.toArray()[0], 0);
});

test("sampling follows the probabilities and the generator's seed", () => {
  const logProbs = logDistribution(logits().expand([1, 4000, 3]), { temperature: 1, topK: 0 });
  const draws = sampleTokens(logProbs, new Generator(3)).toArray();
  const share = draws.filter((token) => token === 2).length / draws.length;
  assert.ok(Math.abs(share - 5 / 8) < 0.03, `${share}`);
  assert.deepEqual(sampleTokens(logProbs, new Generator(3)).toArray(), draws);
});

test("with a generator per row, a row's tokens are the same alone and among others", () => {
  const wide = tensor([
    [
      [0, 1, 2],
      [2, 1, 0],
    ],
    [
      [1, 1, 1],
      [0, 3, 0],
    ],
  ]).logSoftmax(2); // [B 2, A 2, V 3]
  const both = sampleTokens(wide, [new Generator(7), new Generator(8)]).nested() as number[][];
  const second = sampleTokens(wide.narrow(0, 1, 1), [new Generator(8)]).nested() as number[][];
  assert.deepEqual(both[1], second[0]);
});

test("sampling by rows follows the probabilities and never draws a forbidden token", () => {
  const rows = 4000;
  const logProbs = logDistribution(logits(), { temperature: 1, topK: 2 }).expand([rows, 1, 3]);
  const tokens = sampleTokens(
    logProbs,
    Array.from({ length: rows }, (_, row) => new Generator(row)),
  ).toArray();
  const share = (token: number): number => tokens.filter((each) => Number(each) === token).length / rows;
  assert.equal(share(0), 0);
  assert.ok(Math.abs(share(1) - 2 / 7) < 0.03, `${share(1)}`);
});

test("entropy that is only measured is the same number and sends no gradient", () => {
  const x = tensor([[[Math.log(2), 0, Math.log(5)]]]).requiresGrad_();
  const distribution = logDistribution(x, { temperature: 1, topK: 0 });
  const [learned, measured] = (["learned", "measured"] as const).map(
    (how) => judge(distribution, tensor([[2n]]), how).entropy_BA!,
  );
  assert.deepEqual(measured!.toArray(), learned!.toArray());
  assert.equal(measured!.requiresGrad, false);
  assert.equal(judge(distribution, tensor([[2n]])).entropy_BA, undefined);
});
