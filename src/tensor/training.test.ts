import assert from "node:assert/strict";
import { test } from "node:test";
import {
  AdamW,
  aten,
  clipGradNorm,
  constantSchedule,
  cosineSchedule,
  Generator,
  grad,
  type Layer,
  layerWise,
  linearSchedule,
  liveTensors,
  randn,
  scope,
  type Tensor,
  tensor,
} from "./index.ts";

test("AdamW's first step moves every weight by the learning rate against its gradient's sign", () => {
  const w = tensor([1, -1]).requiresGrad_();
  const adam = new AdamW([{ parameters: new Map([["w", w]]), lr: 0.1, weightDecay: 0 }], { eps: 1e-12 });
  adam.step(new Map([["w", tensor([3, -0.5])]]));
  const [a = 0, b = 0] = w.toArray();
  assert.ok(Math.abs(a - 0.9) < 1e-6 && Math.abs(b + 0.9) < 1e-6, `${a} ${b}`);
});

test("AdamW decays weights apart from the gradient, and groups have rates of their own", () => {
  const [x, y] = [tensor([1]).requiresGrad_(), tensor([1]).requiresGrad_()];
  const adam = new AdamW([
    { parameters: new Map([["x", x]]), lr: 0.1, weightDecay: 0.5 },
    { parameters: new Map([["y", y]]), lr: 0, weightDecay: 0.5 },
  ]);
  const none = tensor([0]);
  adam.step(
    new Map([
      ["x", none],
      ["y", none],
    ]),
  );
  assert.ok(Math.abs((x.toArray()[0] ?? 0) - 0.95) < 1e-6);
  assert.deepEqual(y.toArray(), [1]);
});

test("an optimiser restored from its state continues bit for bit", () => {
  const make = () => {
    const w = tensor([0.3, -0.7, 2]).requiresGrad_();
    return { w, adam: new AdamW([{ parameters: new Map([["w", w]]), lr: 0.01 }]) };
  };
  const step = ({ w, adam }: ReturnType<typeof make>) =>
    scope(() => {
      w.square().sum().backward();
      adam.step();
      adam.zeroGrad();
      return 0;
    });
  const straight = make();
  for (let i = 0; i < 6; i++) step(straight);
  const first = make();
  for (let i = 0; i < 3; i++) step(first);
  const second = make();
  second.w.detach().copy_(first.w);
  second.adam.loadState(new Map([...first.adam.state()].map(([k, v]) => [k, v.clone()])));
  for (let i = 0; i < 3; i++) step(second);
  assert.deepEqual(second.w.toArray(), straight.w.toArray());
});

test("clipping scales the global norm down to the limit and leaves small gradients alone", () => {
  const gradients = [tensor([3]), tensor([4])];
  assert.equal(clipGradNorm(gradients, 1).item(), 5);
  const total = gradients.reduce((sum, g) => sum + g.item() ** 2, 0);
  assert.ok(Math.abs(Math.sqrt(total) - 1) < 1e-6);
  const small = [tensor([0.3]), tensor([0.4])];
  clipGradNorm(small, 1);
  assert.deepEqual(
    small.map((g) => g.toArray()),
    [tensor([0.3]), tensor([0.4])].map((g) => g.toArray()),
  );
});

test("schedules warm up from above zero and end where they should", () => {
  assert.deepEqual([0, 1, 2, 3, 4].map(constantSchedule(4)), [0.25, 0.5, 0.75, 1, 1]);
  const cosine = cosineSchedule(10, 2, 0.1);
  assert.equal(cosine(0), 0.5);
  assert.equal(cosine(2), 1);
  assert.ok(Math.abs(cosine(10) - 0.1) < 1e-12);
  assert.equal(linearSchedule(10)(5), 0.5);
});

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
