/** One rank that shards with itself: what comes and goes, without the traffic. Several ranks: src/training/sharded-run.test.ts. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Generator, keep, liveTensors, ProcessGroup, randn, scope, type Tensor } from "#tensor";
import { LayerShards } from "./layer-shards.ts";

const group = await ProcessGroup.join({
  backend: "gloo",
  meet: { name: "layer shards" },
  rank: 0,
  worldSize: 1,
});
after(() => group.close());

const parts = [["a"], ["b.left", "b.right"]] as const;

function open() {
  const generator = new Generator(1);
  const made = (shape: number[], trains: boolean): Tensor =>
    keep(randn(shape, { generator })).requiresGrad_(trains);
  const weights = new Map([
    ["a.weight", made([5, 7], true)],
    ["a.bias", made([7], false)],
    ["b.left", keep(made([3, 3], true).detach().bfloat16()).requiresGrad_()],
    ["b.right.value_head", made([4], true)],
    ["c", made([2], true)],
  ]);
  const groupOf = (name: string) =>
    weights.get(name)?.requiresGrad ? (name.includes("value_head") ? 1 : 0) : undefined;
  return { weights, shards: new LayerShards({ parts, weights, groupOf, group }) };
}

const isAway = (weight: Tensor): boolean => weight.toArray().every(Number.isNaN);

test("weights are pieces by layer, type and group of the optimizer; what no layer reads is left alone", () => {
  const { shards } = open();
  const found = shards.pieces.map(({ names, group, own }) => [names.join(), group, own.dtype]);
  assert.deepEqual(found, [
    ["a.weight", 0, "float32"],
    ["a.bias", undefined, "float32"],
    ["b.left", 0, "float32"],
    ["b.right.value_head", 1, "float32"],
  ]);
});

test("a layer is there while it works and away otherwise, with its shape; its numbers are the same to the bit", () => {
  const { weights, shards } = open();
  const before = new Map([...weights].map(([name, weight]) => [name, weight.toArray()]));
  shards.scatter();
  assert.deepEqual(
    [...weights].filter(([, weight]) => isAway(weight)).map(([name]) => name),
    ["a.weight", "a.bias", "b.left", "b.right.value_head"],
  );
  assert.deepEqual(weights.get("a.weight")!.shape, [5, 7]);
  shards.bring(parts[0]);
  assert.deepEqual(weights.get("a.weight")!.toArray(), before.get("a.weight"));
  assert.ok(isAway(weights.get("b.left")!));
  shards.take(parts[0], "forward");
  assert.ok(isAway(weights.get("a.weight")!));
  shards.makeWhole(true);
  for (const [name, weight] of weights) assert.deepEqual(weight.toArray(), before.get(name), name);
});

test("gradients of a layer leave with it and add up over micro-batches, those of frozen weights do not exist", () => {
  const { weights, shards } = open();
  shards.scatter();
  const learn = (): void => {
    shards.bring(parts[0]);
    scope(() => weights.get("a.weight")!.mul(weights.get("a.bias")!).sum().backward());
    shards.take(parts[0], "backward");
  };
  learn();
  const living = liveTensors();
  learn();
  assert.equal(liveTensors(), living);
  assert.equal(weights.get("a.weight")!.grad, null);
  const [trained, frozen] = shards.pieces;
  shards.makeWhole(true);
  const bias = weights.get("a.bias")!.toArray();
  const expected = Array.from({ length: 35 }, (_, i) => bias[i % 7]! * 2);
  assert.deepEqual(trained!.gradient!.toArray().slice(0, 35), expected);
  assert.equal(frozen!.gradient, undefined);
});

test("weights that were changed from outside are what is gathered afterwards", () => {
  const { weights, shards } = open();
  weights.get("a.weight")!.detach().fill_(4);
  shards.rereadWeights();
  shards.scatter();
  shards.makeWhole(true);
  assert.ok(
    weights
      .get("a.weight")!
      .toArray()
      .every((value) => value === 4),
  );
});

test("a part that was not announced is an error with its name", () => {
  assert.throws(() => open().shards.bring(["d.e"]), /did not announce the part d\.e/);
});
