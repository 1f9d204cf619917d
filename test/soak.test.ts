import assert from "node:assert/strict";
import { test } from "node:test";
import { AdamW, clipGradNorm } from "#optimization";
import { Generator, liveTensors, randn, scope, type Tensor, threadCount } from "#tensor";

/** Bytes of resident memory after asking the collector to tidy up. */
function resident(): number {
  globalThis.gc?.();
  return process.memoryUsage.rss();
}

test("10,000 training steps leave no tensor behind and do not grow resident memory", () => {
  threadCount(1);
  const generator = new Generator(1);
  const weights = new Map<string, Tensor>([
    ["in", randn([16, 64], { generator }).div(4).requiresGrad_()],
    ["out", randn([64, 4], { generator }).div(8).requiresGrad_()],
  ]);
  const adam = new AdamW([{ parameters: weights, lr: 1e-3 }]);
  const step = () =>
    scope(() => {
      const x = randn([8, 16], { generator });
      const [inner, outer] = [...weights.values()] as [Tensor, Tensor];
      const error = x
        .matmul(inner)
        .tanh()
        .matmul(outer)
        .sub(x.narrow(1, 0, 4));
      const loss = error.square().mean();
      loss.backward();
      clipGradNorm(
        [...weights.values()].map((w) => w.grad as Tensor),
        1,
      );
      adam.step();
      adam.zeroGrad();
      return loss.item();
    });
  const first = step();
  for (let i = 0; i < 1000; i++) step();
  const [living, bytes] = [liveTensors(), resident()];
  let last = 0;
  for (let i = 0; i < 10_000; i++) last = step();
  assert.equal(liveTensors(), living);
  const growth = (resident() - bytes) / 2 ** 20;
  assert.ok(growth < 24, `resident memory grew by ${growth.toFixed(1)} MiB`);
  assert.ok(last < first / 2, `the network did not learn: ${first} to ${last}`);
});
