import assert from "node:assert/strict";
import { test } from "node:test";
import { arange, aten, Generator, grad, noGrad, randn, type Tensor, tensor, zeros } from "#tensor";
import { assertClose } from "../../test/support/close.ts";
import {
  attention,
  Conv2d,
  Conv3d,
  GatedMlp,
  GroupNorm,
  initNormal,
  LayerNorm,
  Linear,
  LoraConv2d,
  LoraLinear,
  Mlp,
  Module,
  mergeHeads,
  PatchEmbedding,
  RMSNorm,
  rotaryTable,
  rotateHalves,
  rotateInterleaved,
  splitHeads,
  timestepEmbedding,
} from "./index.ts";

class Block extends Module {
  readonly mlp = new Mlp({ width: 4, hidden: 8 });
  readonly layers = [new Linear(4, 4), new Linear(4, 4, { bias: false })];
  readonly notAParameter = 3;
}

const filled = <M extends Module>(module: M, seed = 1): M => {
  const generator = new Generator(seed);
  for (const p of module.parameters()) initNormal(p, 0.5, generator);
  return module;
};

test("a parameter's name is the path of fields that leads to it", () => {
  assert.deepEqual(
    [...new Block().namedParameters().keys()],
    [
      "mlp.fc1.weight",
      "mlp.fc1.bias",
      "mlp.fc2.weight",
      "mlp.fc2.bias",
      "layers.0.weight",
      "layers.0.bias",
      "layers.1.weight",
    ],
  );
});

test("loading names every key that is missing, extra or misshapen", () => {
  const state = new Map(filled(new Block()).state());
  state.delete("layers.1.weight");
  state.set("layers.2.weight", tensor([1]));
  state.set("layers.0.bias", tensor([1, 2]));
  assert.throws(
    () => new Block().loadState(state, { source: "weights.safetensors" }),
    (error: Error) => {
      assert.equal(error.name, "UserError");
      assert.match(error.message, /weights\.safetensors does not fit/);
      assert.match(error.message, /1 keys are missing:\n {4}layers\.1\.weight/);
      assert.match(error.message, /1 keys are not expected:\n {4}layers\.2\.weight/);
      assert.match(error.message, /layers\.0\.bias: expected \[4\], found \[2\]/);
      return true;
    },
  );
});

test("a state goes from one module to another by name, under a prefix too", () => {
  const from = filled(new Block());
  const to = new Block();
  const prefixed = new Map([...from.state("model.")].concat([["other.weight", tensor([1])]]));
  to.loadState(prefixed, { prefix: "model." });
  assert.deepEqual(to.layers[0]?.weight.toArray(), from.layers[0]?.weight.toArray());
});

test("a module on the meta device has names and shapes but no memory, and takes values on loading", () => {
  const ghost = new Linear(3, 2, { device: "meta" });
  assert.deepEqual(ghost.weight.shape, [2, 3]);
  assert.equal(ghost.weight.device, "meta");
  ghost.loadState({
    weight: tensor([
      [1, 2, 3],
      [4, 5, 6],
    ]),
    bias: tensor([0, 1]),
  });
  assertClose(ghost.forward(tensor([1, 1, 1])), [6, 16]);
});

test("norms give mean 0 and variance 1, or root-mean-square 1", () => {
  const x = randn([3, 8], { generator: new Generator(2) });
  const y = new LayerNorm(8, { eps: 0 }).forward(x);
  assertClose(y.mean(-1), [0, 0, 0]);
  assertClose(y.std(-1, 0), [1, 1, 1], 1e-5);
  assertClose(new RMSNorm(8, { eps: 0 }).forward(x).square().mean(-1), [1, 1, 1], 1e-5);
  const image = randn([2, 4, 3, 3], { generator: new Generator(3) });
  assertClose(
    new GroupNorm(2, 4, { eps: 0 }).forward(image).reshape([2, 2, -1]).mean(-1).flatten(),
    [0, 0, 0, 0],
  );
});

test("RMSNorm of a bfloat16 input is computed in float32", () => {
  const norm = new RMSNorm(4, { dtype: "bfloat16" });
  const x = tensor([100, 0.01, -3, 7], { dtype: "bfloat16" });
  const wide = x.float();
  const want = wide.mul(wide.square().mean(-1, true).add(1e-6).rsqrt()).bfloat16();
  assert.deepEqual(norm.forward(x).toArray(), want.toArray());
});

test("attention over split heads equals softmax(q kᵀ / sqrt(h)) v", () => {
  const generator = new Generator(4);
  const [q, k, v] = [0, 1, 2].map(() => splitHeads(randn([2, 5, 8], { generator }), 2)) as [
    Tensor,
    Tensor,
    Tensor,
  ];
  const want = q.matmul(k.transpose(-1, -2)).div(2).softmax(-1).matmul(v);
  assertClose(attention(q, k, v), want, 1e-6);
  assert.deepEqual(mergeHeads(attention(q, k, v)).shape, [2, 5, 8]);
  const causal = attention(q, k, v, { causal: true });
  assertClose(causal.select(2, 0), v.select(2, 0), 1e-6); // the first query sees only the first key
});

test("rotating by position 0 changes nothing, and rotations keep lengths in both layouts", () => {
  const x = randn([1, 3, 6], { generator: new Generator(5) });
  const table = rotaryTable(arange(0, 3), 6);
  const halves = rotateHalves(x, table);
  assertClose(halves.select(1, 0), x.select(1, 0));
  assertClose(halves.square().sum(-1), x.square().sum(-1), 1e-5);
  const perPair = { cos: table.cos.narrow(-1, 0, 3), sin: table.sin.narrow(-1, 0, 3) };
  const interleaved = rotateInterleaved(x, perPair);
  assertClose(interleaved.select(1, 0), x.select(1, 0));
  assertClose(interleaved.square().sum(-1), x.square().sum(-1), 1e-5);
  assert.notDeepEqual(halves.toArray(), interleaved.toArray());
});

test("a timestep embedding begins with cos(t) and holds sin(t) half-way", () => {
  const e = timestepEmbedding(tensor([2]), 6).toArray();
  assert.ok(Math.abs((e[0] ?? 0) - Math.cos(2)) < 1e-6 && Math.abs((e[3] ?? 0) - Math.sin(2)) < 1e-6);
});

test("patches are cut row by row", () => {
  const embed = filled(new PatchEmbedding({ patch: 2, width: 3, channels: 1 }));
  const image = arange(0, 16).reshape([1, 1, 4, 4]);
  const want = tensor([2, 3, 6, 7])
    .matmul(embed.proj.weight.reshape([3, 4]).transpose(0, 1))
    .add(embed.proj.bias as Tensor);
  assertClose(embed.forward(image).select(1, 1).flatten(), want, 1e-5);
});

test("a gated MLP multiplies the gate's activation with the other branch", () => {
  const mlp = filled(new GatedMlp({ width: 4, hidden: 6 }));
  const x = randn([2, 4], { generator: new Generator(6) });
  const gate = mlp.gate_proj.forward(x);
  assertClose(
    mlp.forward(x),
    mlp.down_proj.forward(gate.mul(gate.sigmoid()).mul(mlp.up_proj.forward(x))),
    1e-6,
  );
});

test("a fresh LoRA changes nothing; merged, it equals the adapted layer, linear and convolution alike", () => {
  const generator = new Generator(8);
  const x = randn([2, 4], { generator });
  const linear = new LoraLinear(filled(new Linear(4, 3)), { rank: 2, alpha: 1 }).initialize(generator);
  assertClose(linear.forward(x), linear.base_layer.forward(x), 0);
  initNormal(linear.lora_B.weight, 0.5, generator);
  const adapted = noGrad(() => linear.forward(x));
  assertClose(linear.merge().forward(x), adapted, 1e-6);

  const image = randn([1, 2, 6, 6], { generator });
  const conv = new LoraConv2d(filled(new Conv2d(2, 3, { kernel: 3, stride: 3 })), {
    rank: 2,
    alpha: 4,
  }).initialize(generator);
  initNormal(conv.lora_B.weight, 0.5, generator);
  const adaptedImage = noGrad(() => conv.forward(image));
  assertClose(conv.merge().forward(image), adaptedImage, 1e-5);
});

test("a LoRA layer trains A and B and leaves the base alone", () => {
  const layer = new LoraLinear(filled(new Linear(4, 3)), { rank: 2, alpha: 2 }).initialize(new Generator(9));
  layer
    .forward(randn([2, 4]))
    .square()
    .sum()
    .backward();
  assert.equal(layer.base_layer.weight.grad, null);
  assert.ok(layer.lora_B.weight.grad);
});

test("a convolution over blocks that do not overlap is that of libtorch, with its gradients", () => {
  const layer = new Conv3d(3, 8, { kernel: [1, 2, 4], stride: [1, 2, 4] });
  const random = new Generator(5);
  noGrad(() => {
    for (const weight of layer.parameters()) weight.normal_(0, 1, random);
  });
  const x = randn([2, 3, 5, 6, 8], { generator: random }).requiresGrad_();
  const plain = aten.conv3d(x, layer.weight, layer.bias ?? null, [1, 2, 4]);
  const ours = layer.forward(x);
  const towards = randn([...plain.shape], { generator: random });
  const inputs = [x, layer.weight, layer.bias!];
  const [gradients, expected] = [ours, plain].map((y) => grad([y], inputs, { gradOutputs: [towards] }));
  for (const [i, each] of [ours, ...gradients!].entries()) {
    const other = [plain, ...expected!][i]!;
    assert.deepEqual(each!.shape, other!.shape);
    assert.ok(Number(each!.sub(other!).abs().max().item()) < 1e-4);
  }
  assert.deepEqual(layer.forward(zeros([1, 3, 5, 7, 9])).shape, [1, 8, 5, 3, 2]); // what does not fit is left over
});
