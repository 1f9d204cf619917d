import assert from "node:assert/strict";
import { test } from "node:test";
import { liveTensors, scope, tensor } from "#tensor";
import { AdamW } from "./adamw.ts";
import { clipGradNorm } from "./clip.ts";
import { WholeUpdate } from "./weight-update.ts";

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

test("an optimizer restored from its state continues bit for bit", () => {
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

/** One weight in its own group, and its update. */
function train(dtype: "float32" | "bfloat16", masters: boolean) {
  const w = tensor([1, -2], { dtype }).requiresGrad_();
  const update = new WholeUpdate([{ weights: new Map([["w", w]]), lr: 1e-4 }], { masters, weightDecay: 0 });
  const gradients = (...values: number[]) => new Map([["w", tensor(values, { dtype })]]);
  return { w, update, gradients };
}

test("steps below the rounding of bfloat16 add up in its masters, and are lost without them", async () => {
  const moved = async (masters: boolean): Promise<number[]> => {
    const { w, update, gradients } = train("bfloat16", masters);
    for (let i = 0; i < 100; i++) await update.apply(gradients(1, 1), 1);
    return w.toArray().map(Number);
  };
  assert.deepEqual(await moved(false), [1, -2]);
  const [a = 0, b = 0] = await moved(true);
  assert.ok(Math.abs(a - 0.99) < 5e-3 && Math.abs(b + 2.01) < 1e-2, `${a} ${b}`);
});

test("on float32 weights, what the host has seen and what it has not give the same bits", async () => {
  const [seen, unseen] = [train("float32", true), train("float32", true)];
  for (const values of [
    [3, 4],
    [0.1, -0.2],
    [-7, 1],
  ] as const) {
    const { norm } = await seen.update.apply(seen.gradients(...values), 1);
    assert.equal(unseen.update.applyUnseen(unseen.gradients(...values), 1).item(), norm);
  }
  assert.deepEqual(seen.w.toArray(), unseen.w.toArray());
});

test("a gradient that is not finite takes no step", async () => {
  const { w, update, gradients } = train("float32", true);
  const { taken, norm } = await update.apply(gradients(Number.NaN, 1), 1);
  assert.deepEqual([taken, Number.isNaN(norm), w.toArray()], [false, true, [1, -2]]);
});

test("an update with masters goes on from its state bit for bit, and frees what it held", async () => {
  const steps = async ({ update, gradients }: ReturnType<typeof train>, count: number) => {
    for (let i = 0; i < count; i++) {
      const given = gradients(i, 1);
      await update.apply(given, 1);
      given.get("w")?.dispose();
    }
  };
  const straight = train("bfloat16", true);
  await steps(straight, 4);
  const before = liveTensors();
  const [first, second] = [train("bfloat16", true), train("bfloat16", true)];
  await steps(first, 4);
  await first.update.lendState((state) => {
    assert.deepEqual([...state.keys()], ["0.w.m", "0.w.v", "0.w.step", "master.w"]);
    second.update.loadState(state);
  });
  second.update.masters.round();
  scope(() => assert.deepEqual(second.w.toArray(), straight.w.toArray()));
  for (const { w, update } of [first, second]) for (const each of [w, update]) each.dispose();
  assert.equal(liveTensors(), before);
});
