import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { tensor } from "#tensor";
import { readTorchState, writeTorchState } from "./index.ts";

test("a written state dict comes back with its names, types, shapes and values", () => {
  const path = join(mkdtempSync(join(tmpdir(), "reverie-torch-")), "state.pth");
  const state = new Map([
    [
      "net.0.weight",
      tensor([
        [1, 2, 3],
        [4, 5, 6],
      ]),
    ],
    ["net.0.bias", tensor([0.5, -0.5], { dtype: "bfloat16" })],
    ["count", tensor(7n, { shape: [] })],
    [
      "turned",
      tensor([
        [1, 2],
        [3, 4],
      ]).transpose(0, 1),
    ],
  ]);
  writeTorchState(path, state);
  const back = readTorchState(path);
  assert.deepEqual([...back.keys()], [...state.keys()]);
  for (const [name, value] of state) {
    const found = back.get(name)!;
    assert.deepEqual(
      [found.dtype, found.shape, found.float().toArray()],
      [value.dtype, value.shape, value.float().toArray()],
    );
  }
});
