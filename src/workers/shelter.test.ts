import assert from "node:assert/strict";
import { test } from "node:test";
import { cudaAvailable, deviceMemory, Generator, keep, randn, type Tensor } from "#tensor";
import { requireMemory } from "./host-room.ts";
import { Shelter } from "./shelter.ts";

const noCuda = cudaAvailable() ? false : "needs a CUDA build of libtorch and a GPU";

function things(device: "cpu" | "cuda" = "cpu"): Tensor[] {
  const generator = new Generator(1);
  const drawn = [[300, 7], [1000], [33, 129]].map((shape) => randn(shape, { generator }));
  const made = drawn.map((each, i) => each.to({ dtype: i === 1 ? "bfloat16" : "float32", device }));
  return made.map((each) => keep(each));
}

for (const device of ["cpu", "cuda"] as const) {
  test(`${device}: what leaves can be read meanwhile, and comes back as it was`, {
    skip: device === "cuda" && noCuda,
  }, () => {
    const tensors = things(device);
    const before = tensors.map((each) => each.toArray());
    const shelter = new Shelter(() => tensors, device === "cuda" ? "cuda:0" : "cpu");
    for (let round = 0; round < 2; round++) {
      shelter.rest();
      assert.equal(shelter.bytesAway, 4 * 2100 + 2 * 1000 + 4 * 33 * 129);
      for (const [i, each] of tensors.entries()) {
        assert.equal(each.device, "cpu");
        assert.deepEqual(each.toArray(), before[i]);
      }
      shelter.wake();
      assert.equal(shelter.bytesAway, 0);
      for (const [i, each] of tensors.entries()) {
        assert.ok(each.device.startsWith(device));
        assert.deepEqual(each.toArray(), before[i]);
      }
    }
  });
}

test("what is changed while away is changed when it comes back", () => {
  const tensors = things();
  const shelter = new Shelter(() => tensors, "cpu");
  shelter.rest();
  tensors[0]!.fill_(3);
  shelter.wake();
  assert.ok(tensors[0]!.toArray().every((value) => value === 3));
});

test("the last of several users sends them away, and the first calls them back", () => {
  let moves = 0;
  const shelter = new Shelter(things, "cpu", () => moves++);
  shelter.wake();
  shelter.rest();
  assert.deepEqual([shelter.isAway, moves], [false, 0]);
  shelter.rest();
  assert.deepEqual([shelter.isAway, moves], [true, 1]);
  assert.throws(() => shelter.rest(), /away/);
});

test("a weight that wants gradients learns as before after it has been away", () => {
  const learn = (away: boolean): number[] => {
    const [weight] = things() as [Tensor];
    weight.requiresGrad_();
    const shelter = new Shelter(() => [weight], "cpu");
    if (away) shelter.rest();
    if (away) shelter.wake();
    weight.square().sum().backward();
    return weight.grad!.toArray();
  };
  assert.deepEqual(learn(true), learn(false));
});

test("more than the host has free is refused before it is taken", () => {
  assert.throws(
    () => requireMemory(90e9, 64e9),
    /needs 90\.0 GB .* 64\.0 GB are free: .*enable_offload=False/,
  );
  requireMemory(50e9, 64e9);
});

test("memory on the device falls by what leaves", { skip: noCuda }, () => {
  const tensors = [keep(randn([1024, 1024, 8], { device: "cuda" }))];
  const shelter = new Shelter(() => tensors, "cuda:0");
  const before = deviceMemory(0).allocated;
  shelter.rest();
  assert.equal(before - deviceMemory(0).allocated, shelter.bytesAway);
  shelter.wake();
  assert.equal(deviceMemory(0).allocated, before);
});
