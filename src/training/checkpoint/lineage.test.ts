import assert from "node:assert/strict";
import { test } from "node:test";
import { branchFrom, branchOf, isOn, type Lineage, lineageOf, type Marked, newLineage } from "./lineage.ts";

const made = (lineage: Lineage, step: number): Marked => ({ step, run: { lineage, parent: step - 1 } });

test("a run's own checkpoints are on its lineage, those of another are not", () => {
  const [ours, theirs] = [newLineage(), newLineage()];
  assert.ok(isOn(ours, made(ours, 3)));
  assert.ok(!isOn(ours, made(theirs, 3)));
});

test("after going back to step 2, steps 1 and 2 of the first branch belong to the run and its step 3 does not", () => {
  const first = newLineage();
  const second = branchFrom(made(first, 2));
  assert.deepEqual(
    [1, 2, 3, 4].map((step) => isOn(second, made(first, step))),
    [true, true, false, false],
  );
  assert.ok(isOn(second, made(second, 3)));
  assert.ok(!isOn(first, made(second, 3)));
});

test("going back behind an earlier return leaves that branch out", () => {
  const first = newLineage();
  const second = branchFrom(made(first, 4));
  const third = branchFrom(made(first, 2));
  assert.ok(!isOn(third, made(second, 5)));
  assert.deepEqual(third.length, 2);
  const fourth = branchFrom(made(second, 6));
  assert.deepEqual(
    fourth.map(({ from }) => from),
    [0, 4, 6],
  );
  assert.ok(isOn(fourth, made(first, 4)));
  assert.ok(isOn(fourth, made(second, 6)));
  assert.notEqual(branchOf(fourth), branchOf(second));
});

test("checkpoints without an identity belong to a run that went on from one of them, as far as that one", () => {
  const old: Marked = { step: 5 };
  const lineage = branchFrom(old);
  assert.ok(isOn(lineage, { step: 5 }));
  assert.ok(isOn(lineage, { step: 3 }));
  assert.ok(!isOn(lineage, { step: 9 }));
  assert.ok(isOn(lineageOf(old), { step: 9 }));
});
