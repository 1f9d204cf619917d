import assert from "node:assert/strict";
import { test } from "node:test";
import {
  aten,
  Generator,
  grad,
  type Layer,
  layerWise,
  liveTensors,
  randn,
  scope,
  type Tensor,
} from "./index.ts";

test("layer-wise gradients equal those of one graph bit for bit, and nothing is left over", () => {
  const generator = new Generator(7);
  const weights = Array.from({ length: 4 }, () => randn([8, 8], { generator }).div(3).requiresGrad_());
  const layer = (w: Tensor, i: number): Layer => ({
    parameters: new Map([[`w${i}`, w]]),
    forward: ([x]) => [aten.gelu((x as Tensor).matmul(w))],
  });
  const input = randn([5, 8], { generator }).requiresGrad_();
  const whole = scope(() => {
    const y = weights.reduce((x, w) => aten.gelu(x.matmul(w)), input);
    return grad([y.square().sum()], [...weights, input]).map((g) => (g as Tensor).toArray());
  });
  const before = liveTensors();
  const found = new Map<string, number[]>();
  const run = layerWise(weights.map(layer), [input]);
  const gradient = scope(() => {
    const out = (run.outputs[0] as Tensor).detach().requiresGrad_();
    return grad([out.square().sum()], [out])[0] as Tensor;
  });
  const [inputGradient] = run.backward([gradient], (name, g) => found.set(name, g.toArray()));
  assert.deepEqual(
    [0, 1, 2, 3].map((i) => found.get(`w${i}`)),
    whole.slice(0, 4),
  );
  assert.deepEqual(inputGradient?.toArray(), whole[4]);
  inputGradient?.dispose();
  gradient.dispose();
  run.dispose();
  assert.equal(liveTensors(), before);
});

test("where nobody wants the inputs' gradients, the reverse pass ends at the first layer that learns", () => {
  const generator = new Generator(8);
  const weights = Array.from({ length: 3 }, () => randn([4, 4], { generator }).requiresGrad_());
  const runs = [0, 0, 0];
  const layers = weights.map(
    (w, i): Layer => ({
      parameters: new Map(i === 1 ? [["w", w]] : []),
      forward: ([x]) => {
        runs[i]!++;
        return [(x as Tensor).matmul(w)];
      },
    }),
  );
  const before = liveTensors();
  const [input, gradient] = [randn([2, 4], { generator }), randn([2, 4], { generator })];
  const run = layerWise(layers, [input]);
  let found: number[] = [];
  const ofInputs = run.backward([gradient], (_, g) => (found = g.toArray()), { ofInputs: false });
  assert.deepEqual(ofInputs, [null]);
  assert.deepEqual(runs, [1, 2, 2]);
  const expected = scope(() => {
    const [first, middle, last] = weights as [Tensor, Tensor, Tensor];
    return grad([input.matmul(first).matmul(middle).matmul(last)], [middle], {
      gradOutputs: [gradient],
    })[0]!.toArray();
  });
  assert.deepEqual(found, expected);
  for (const t of [input, gradient]) t.dispose();
  run.dispose();
  assert.equal(liveTensors(), before);
});
