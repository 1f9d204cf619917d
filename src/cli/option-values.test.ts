import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { cudaAvailable } from "#tensor";
import { checked, deviceOf, keyValues, wholeNumber } from "./option-values.ts";

test("a device that this machine does not have is refused, not replaced by another", () => {
  assert.equal(deviceOf("cpu"), "cpu");
  assert.throws(() => deviceOf("tpu"), /--device is "tpu"; expected cpu, cuda or cuda:1/);
  if (cudaAvailable()) assert.equal(deviceOf("cuda"), "cuda");
  else assert.throws(() => deviceOf("cuda"), /no GPU answers here/);
});

test("a pair's value is JSON where it is JSON, and may hold equal signs", () => {
  assert.deepEqual(keyValues("--set", ["a=1", "b=x", "c=[1,2]", "d=y=z", "e="]), {
    ...{ a: 1, b: "x", c: [1, 2], d: "y=z", e: "" },
  });
  assert.throws(() => keyValues("--set", ["=1"]), /--set =1: expected KEY=VALUE/);
});

test("a pair cannot reach an object's prototype", () => {
  assert.equal(({} as Record<string, unknown>).polluted, undefined);
  keyValues("--set", ['__proto__={"polluted": 1}']);
  assert.equal(({} as Record<string, unknown>).polluted, undefined);
});

test("whole numbers above zero, and nothing else", () => {
  assert.equal(wholeNumber("--steps", "12"), 12);
  for (const text of ["0", "-1", "1.5", "many", "", "1e99"])
    assert.throws(() => wholeNumber("--steps", text), /--steps takes a whole number above zero/);
});

test("settings that do not fit are named with what was found, and slips with what was meant", () => {
  const schema = z.strictObject({ steps: z.int().positive(), lr: z.number().optional() });
  assert.throws(() => checked(schema, { steps: "many" }), /steps: expected number, found "many"/);
  assert.throws(() => checked(schema, { steps: 0 }), /steps: expected number to be >0, found 0/);
  assert.throws(
    () => checked(schema, { steps: 1, stepz: 2 }),
    /stepz: no such setting; did you mean steps\?/,
  );
  assert.throws(
    () => checked(schema, { steps: 1, zebra: 2 }),
    /zebra: no such setting; there are: steps, lr/,
  );
});
