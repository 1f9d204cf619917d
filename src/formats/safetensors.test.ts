import assert from "node:assert/strict";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { type DType, liveTensors, scope, type Tensor, tensor, zeros } from "#tensor";
import { openCheckpoint } from "./checkpoint-folder.ts";
import { readSafetensors, writeSafetensors } from "./safetensors.ts";
import { readSafetensorsHeader } from "./safetensors-header.ts";

const folder = mkdtempSync(join(tmpdir(), "reverie-safetensors-"));
const dtypes: DType[] = [
  "bool",
  "uint8",
  "int8",
  "int16",
  "int32",
  "int64",
  "float16",
  "bfloat16",
  "float32",
  "float64",
];

test("any set of tensors reads back equal, in type, shape and value", () => {
  const one = fc.record({
    dtype: fc.constantFrom(...dtypes),
    shape: fc.array(fc.nat(4), { maxLength: 3 }),
    name: fc
      .string({ minLength: 1, maxLength: 12 })
      .filter((name) => name !== "__metadata__" && name !== "__proto__"),
  });
  const sets = fc.uniqueArray(one, { selector: ({ name }) => name, maxLength: 6 });
  const property = fc.property(sets, fc.integer(), (set, seed) => {
    scope(() => {
      const path = join(folder, "any.safetensors");
      const tensors = new Map(set.map(({ name, dtype, shape }) => [name, filled(shape, dtype, seed)]));
      writeSafetensors(path, tensors, { seed: String(seed) });
      const back = readSafetensors(path);
      assert.equal(back.size, tensors.size);
      for (const [name, original] of tensors) assertSame(back.get(name)!, original);
      assert.equal(readSafetensorsHeader(path).metadata.get("seed"), String(seed));
    });
  });
  fc.assert(property, { seed: 5, numRuns: 200 });
});

test("every tensor is aligned to its element size, so that mapping never copies", () => {
  const path = join(folder, "aligned.safetensors");
  const tensors = new Map([
    ["a", zeros([3], { dtype: "uint8" })],
    ["b", zeros([1], { dtype: "float64" })],
    ["c", zeros([5], { dtype: "float16" })],
  ]);
  writeSafetensors(path, tensors);
  for (const [name, { offset }] of readSafetensorsHeader(path).tensors) {
    assert.equal(offset % { a: 1, b: 8, c: 2 }[name]!, 0, name);
  }
});

test("a transposed view is written in its own order", () => {
  const path = join(folder, "view.safetensors");
  writeSafetensors(
    path,
    new Map([
      [
        "t",
        tensor([
          [1, 2, 3],
          [4, 5, 6],
        ]).transpose(0, 1),
      ],
    ]),
  );
  assert.deepEqual(readSafetensors(path).get("t")!.nested(), [
    [1, 4],
    [2, 5],
    [3, 6],
  ]);
});

test("writing to a mapped tensor leaves the file alone", () => {
  const path = join(folder, "private.safetensors");
  writeSafetensors(path, new Map([["x", tensor([1, 2, 3])]]));
  readSafetensors(path).get("x")!.fill_(9);
  assert.deepEqual(readSafetensors(path).get("x")!.toArray(), [1, 2, 3]);
});

test("reading and writing leave no tensor behind", () => {
  const path = join(folder, "leak.safetensors");
  const before = liveTensors();
  const original = zeros([4, 4]).transpose(0, 1);
  const made = liveTensors();
  writeSafetensors(path, new Map([["x", original]]));
  assert.equal(liveTensors(), made);
  scope(() => void readSafetensors(path));
  assert.equal(liveTensors(), made);
  assert.ok(made > before);
});

test("a sharded checkpoint reads as one, and by name", () => {
  const shards = mkdtempSync(join(folder, "shards-"));
  writeSafetensors(
    join(shards, "model-00001-of-00002.safetensors"),
    new Map([
      ["a", tensor([1])],
      ["b", tensor([2])],
    ]),
  );
  writeSafetensors(join(shards, "model-00002-of-00002.safetensors"), new Map([["c", tensor([3])]]));
  const map = {
    a: "model-00001-of-00002.safetensors",
    b: "model-00001-of-00002.safetensors",
    c: "model-00002-of-00002.safetensors",
  };
  const index = join(shards, "model.safetensors.index.json");
  writeFileSync(index, JSON.stringify({ metadata: { total_size: 12 }, weight_map: map }));
  const checkpoint = openCheckpoint(shards);
  assert.deepEqual([...checkpoint.entries.keys()].sort(), ["a", "b", "c"]);
  assert.deepEqual([...checkpoint.read(["c", "a"])].map(([name, t]) => [name, t.item()]).sort(), [
    ["a", 1],
    ["c", 3],
  ]);
  assert.throws(() => checkpoint.read(["d"]), /no tensor "d"; it has 3 others/);
  writeFileSync(index, JSON.stringify({ weight_map: { ...map, d: map.c } }));
  assert.throws(() => openCheckpoint(shards), /lacks tensor "d", which the index promises/);
  writeFileSync(index, JSON.stringify({ weight_map: { a: "../../../etc/passwd" } }));
  assert.throws(() => openCheckpoint(shards), /no shard's name/);
});

test("a folder without weights says what it lacks", () => {
  assert.throws(
    () => openCheckpoint(mkdtempSync(join(folder, "empty-"))),
    /neither model.safetensors.index.json nor/,
  );
});

/** Values that every type can hold exactly, and that differ by place. */
function filled(shape: number[], dtype: DType, seed: number): Tensor {
  const count = shape.reduce((product, size) => product * size, 1);
  const values = Array.from({ length: count }, (_, i) =>
    Math.abs((seed + i * 7) % (dtype === "bool" ? 2 : 100)),
  );
  return tensor(new Float64Array(values), { shape }).to({ dtype });
}

function assertSame(actual: Tensor, wanted: Tensor): void {
  assert.equal(actual.dtype, wanted.dtype);
  assert.deepEqual(actual.shape, wanted.shape);
  assert.deepEqual(actual.double().toArray(), wanted.double().toArray());
}
