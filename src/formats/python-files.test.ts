/** Files written by the real Python libraries (test/fixtures/formats/make.py) read back to the same values. */
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Tensor } from "#tensor";
import { readNpy, writeNpy } from "./npy.ts";
import { readNpz } from "./npz.ts";
import type { NumericArray } from "./numeric-array.ts";
import type { NumpyArray, ObjectArray } from "./numpy-array.ts";
import { readPng } from "./png-decode.ts";
import { readSafetensors } from "./safetensors.ts";
import { readSafetensorsHeader } from "./safetensors-header.ts";
import { readTorch, readTorchLayout } from "./torch-file.ts";
import { StoredTensor } from "./torch-pickle.ts";

interface Expected {
  readonly dtype: string;
  readonly shape: number[];
  readonly values: unknown[];
}

const folder = fileURLToPath(new URL("../../test/fixtures/formats/", import.meta.url));
const expected = JSON.parse(readFileSync(join(folder, "expected.json"), "utf8")) as Record<string, Expected>;
const files = readdirSync(folder);

for (const file of files.filter((name) => name.endsWith(".npy") && !name.startsWith("objects"))) {
  const name = file.slice(0, -4);
  test(`${file} holds what NumPy wrote`, () => assertArray(readNpy(join(folder, file)), expected[name]!));
}

test("stored and deflated npz archives hold their arrays by name", () => {
  const stored = readNpz(join(folder, "stored.npz"));
  for (const [name, array] of stored) assertArray(array, expected[name]!);
  assert.deepEqual([...stored.keys()], ["float32", "fortran", "text"]);
  const deflated = readNpz(join(folder, "deflated.npz"));
  assertArray(deflated.get("float64")!, expected.float64!);
  assert.ok((deflated.get("zeros")!.data as Float64Array).every((value) => value === 0));
});

for (const protocol of [0, 2, 3, 4, 5]) {
  test(`an object array pickled with protocol ${protocol} holds Python's values`, () => {
    const { shape, data } = readNpy(join(folder, `objects_p${protocol}.npy`)) as ObjectArray;
    assert.deepEqual(shape, [2]);
    const [first, second] = data as Map<string, unknown>[];
    assertArray(first!.get("image") as NumpyArray, expected.image!);
    assertArray(first!.get("delta_action") as NumpyArray, expected.delta_action!);
    const { image: _image, delta_action: _action, ...rest } = Object.fromEntries(first!);
    assert.deepEqual(rest, {
      instruction: "put the mug on the plate",
      step: 3,
      reward: 0.5,
      done: true,
      big: 2n ** 70n,
      negative: -5,
      none: null,
      tags: new Set(["a"]),
      raw: Uint8Array.of(0, 255),
      pair: [1, 2.5],
    });
    assert.equal(second!.get("step"), 4);
  });
}

for (const file of ["zip.pth", "legacy.pth"]) {
  test(`${file} gives torch.save's tensors, views and plain values`, () => {
    const value = readTorch(join(folder, file)) as Map<string, unknown>;
    for (const [name, want] of Object.entries(expected)) {
      if (!name.startsWith("torch.")) continue;
      const key = name.slice("torch.".length);
      const owner = key.startsWith("state.") ? (value.get("state") as Map<string, unknown>) : value;
      assertTensor(owner.get(key.replace(/^state\./, "")) as Tensor, want);
    }
    assertArray(value.get("array") as NumpyArray, expected.float64!);
    assert.deepEqual(
      value.get("config"),
      new Map<string, unknown>([
        ["size", [2, 3]],
        ["lr", 1e-4],
        ["dtype", "torch.float32"],
        ["names", ["a", "b"]],
      ]),
    );
  });
}

test("a layout describes tensors without loading them", () => {
  const value = readTorchLayout(join(folder, "zip.pth")) as Map<string, unknown>;
  const { shape, stride, offset, dtype } = value.get("narrowed") as StoredTensor;
  assert.ok(value.get("narrowed") instanceof StoredTensor);
  assert.deepEqual(
    { shape, stride, offset, dtype },
    { shape: [2, 3], stride: [6, 1], offset: 8, dtype: "float32" },
  );
});

test("a NumPy array saved by torch.save needs no tensor", () => {
  assertArray(readTorch(join(folder, "numpy.pruned_init")) as NumpyArray, expected.float64!);
});

test("safetensors written by Python hold the same tensors and metadata", () => {
  const path = join(folder, "some.safetensors");
  assert.deepEqual(readSafetensorsHeader(path).metadata, new Map([["format", "pt"]]));
  const tensors = readSafetensors(path);
  assert.equal(tensors.size, 6);
  for (const [name, tensor] of tensors) assertTensor(tensor, expected[`torch.${name}`]!);
});

for (const mode of ["L", "RGB", "RGBA", "P"]) {
  test(`a ${mode} picture written by Pillow decodes to the same pixels`, () => {
    const { width, height, data } = readPng(join(folder, `${mode}.png`));
    const want = expected[`png.${mode}`]!;
    assert.deepEqual([height, width], want.shape.slice(0, 2));
    assert.deepEqual([...data], want.values);
  });
}

test("what writeNpy writes is byte for byte what NumPy writes", () => {
  const out = mkdtempSync(join(tmpdir(), "reverie-npy-"));
  for (const name of ["bool", "int16", "float32", "float64", "scalar", "empty", "int8"]) {
    writeNpy(join(out, "a.npy"), readNpy(join(folder, `${name}.npy`)) as NumericArray);
    assert.deepEqual(readFileSync(join(out, "a.npy")), readFileSync(join(folder, `${name}.npy`)), name);
  }
});

function assertArray(array: NumpyArray, { dtype, shape, values }: Expected): void {
  assert.equal(array.dtype, dtype);
  assert.deepEqual(array.shape, shape);
  const plain = Array.from(array.data as Iterable<unknown>, (value) =>
    typeof value === "bigint" ? Number(value) : value,
  );
  assert.deepEqual(plain, dtype === "bool" ? values.map(Number) : values);
}

function assertTensor(tensor: Tensor, { dtype, shape, values }: Expected): void {
  assert.equal(tensor.dtype, dtype);
  assert.deepEqual(tensor.shape, shape);
  assert.deepEqual(tensor.double().toArray(), values);
}
