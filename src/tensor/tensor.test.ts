import assert from "node:assert/strict";
import { test } from "node:test";
import { aten, cat, Generator, noGrad, randn, scope, tensor, zeros } from "./index.ts";
import { op } from "./operator.ts";

test("nested arrays give a tensor its shape, and nested() gives them back", () => {
  const rows = [
    [1, 2, 3],
    [4, 5, 6],
  ];
  const x = tensor(rows);
  assert.deepEqual(x.shape, [2, 3]);
  assert.deepEqual(x.nested(), rows);
  assert.throws(() => tensor([[1, 2], [3]]), /ragged/);
});

test("every element type survives a round trip through its typed array", () => {
  for (const dtype of ["uint8", "int8", "int16", "int32", "int64", "float32", "float64", "bool"] as const) {
    const x = tensor([0, 1, 1, 0], { dtype });
    assert.equal(x.dtype, dtype);
    assert.deepEqual(x.toArray(), [0, 1, 1, 0], dtype);
  }
  for (const dtype of ["bfloat16", "float16"] as const) {
    const x = tensor([1.5, -2], { dtype });
    const again = tensor(x.data(), { dtype });
    assert.deepEqual(again.toArray(), [1.5, -2], dtype);
  }
});

test("a number behaves like a tensor of one element in arithmetic, and does not change the type", () => {
  const x = tensor([1, 2, 3], { dtype: "bfloat16" });
  assert.equal(x.mul(0.5).dtype, "bfloat16");
  assert.deepEqual(x.add(1).toArray(), [2, 3, 4]);
  assert.deepEqual(tensor([7, 8], { dtype: "int64" }).div(2).toArray(), [3.5, 4]);
  assert.deepEqual(tensor([7, -7], { dtype: "int64" }).floorDivide(2).toArray(), [3, -4]);
  assert.deepEqual(x.gt(1).toArray(), [0, 1, 1]);
});

test("the direct, the boxed and the general way to call an operator agree", () => {
  const x = randn([3, 4], { generator: new Generator(3) });
  const direct = op("aten::add.Tensor")(x, x);
  const named = op("aten::add.Tensor")(x, x, { alpha: 1 });
  const chosen = aten.add(x, x);
  assert.deepEqual(named.toArray(), direct.toArray());
  assert.deepEqual(chosen.toArray(), direct.toArray());
  // "approximate" is a string: only the general path carries it
  assert.notDeepEqual(aten.gelu(x, { approximate: "tanh" }).toArray(), aten.gelu(x).toArray());
});

test("an operator's missing, unknown or ill-typed argument is an error that names it", () => {
  const x = tensor([1]);
  assert.throws(() => op("aten::add.Tensor")(x, undefined as never), TypeError);
  assert.throws(
    () => op("aten::add.Tensor")(x, x, { beta: 1 } as never),
    /no argument "beta"; it has: self, other, alpha/,
  );
  assert.throws(() => op("aten::matmul")(x, 5 as never), /aten::matmul: argument 'other'/);
  assert.throws(() => op("aten::no_such_operator"), /no operator aten::no_such_operator/);
  assert.throws(() => aten.add(x, "a" as never), /no overload fits/);
  assert.throws(() => zeros([2, 3]).matmul(zeros([2, 3])), /mat1 and mat2/);
});

test("in-place operators return the tensor they were given", () => {
  const x = tensor([1, 2]);
  assert.equal(x.add_(1), x);
  assert.equal(aten.mul_(x, tensor([2, 2])), x);
  assert.deepEqual(x.toArray(), [4, 6]);
});

test("gradients of a sum of squares are twice the values", () => {
  const x = tensor([1, -2, 3]).requiresGrad_();
  x.square().sum().backward();
  assert.deepEqual(x.grad?.toArray(), [2, -4, 6]);
  assert.equal(noGrad(() => x.square()).requiresGrad, false);
});

test("a generator's state can be saved and restored, and equal seeds draw equal numbers", () => {
  const generator = new Generator(12345678901n);
  const state = generator.getState();
  const first = randn([5], { generator }).toArray();
  const second = randn([5], { generator }).toArray();
  generator.setState(state);
  assert.deepEqual(randn([5], { generator }).toArray(), first);
  assert.notDeepEqual(first, second);
  assert.deepEqual(randn([5], { generator: new Generator(12345678901n) }).toArray(), first);
});

test("a view without a copy shares memory with its tensor and outlives it", () => {
  const x = zeros([4]);
  const view = x.hostView() as Float32Array;
  view[2] = 7;
  assert.deepEqual(x.toArray(), [0, 0, 7, 0]);
  x.dispose();
  assert.equal(view[2], 7);
  assert.throws(() => zeros([2, 3]).transpose(0, 1).hostView(), /contiguous/);
});

test("shapes move as in PyTorch", () => {
  const x = tensor([0, 1, 2, 3, 4, 5]).reshape([2, 3]);
  assert.deepEqual(x.transpose(0, 1).nested(), [
    [0, 3],
    [1, 4],
    [2, 5],
  ]);
  assert.deepEqual(x.slice(1, 0, undefined, 2).nested(), [
    [0, 2],
    [3, 5],
  ]);
  assert.deepEqual(x.unflatten(1, [3, 1]).shape, [2, 3, 1]);
  assert.deepEqual(cat(x.split([1, 2], 1), 1).nested(), x.nested());
  assert.deepEqual(x.index([tensor([1], { dtype: "int64" }), null]).nested(), [[3, 4, 5]]);
  assert.deepEqual(
    x.topk(1).map((t) => t.toArray()),
    [
      [2, 5],
      [2, 2],
    ],
  );
});

test("a scope's tensors are freed on an exception too", () => {
  let inside: ReturnType<typeof zeros> | undefined;
  assert.throws(
    () =>
      scope(() => {
        inside = zeros([1]);
        throw new Error("boom");
      }),
    /boom/,
  );
  assert.equal(inside?.disposed, true);
});
