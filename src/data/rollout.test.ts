import assert from "node:assert/strict";
import { test } from "node:test";
import { liveTensors, ones, scope, tensor, zeros } from "#tensor";
import { concatObservations, selectObservation, sliceObservation } from "./observation.ts";
import { concatColumns, sliceColumns } from "./rollout.ts";
import { RolloutRecorder } from "./rollout-recorder.ts";

/** Two slots, chunks of two actions with three numbers; `mark` makes rows tell apart. */
const decision = (mark: number, critic = true) => ({
  actions: zeros([2, 2, 3]),
  logProbs: ones([2, 2, 3]).mul(mark),
  ...(critic && { values: tensor([[mark], [mark + 0.5]]) }),
  forwardInputs: { ids: tensor([[mark], [mark + 1]], { dtype: "int64" }) },
});
const answer = (mark: number, done = false) => ({
  rewards: tensor([
    [0, mark],
    [0, 0],
  ]),
  terminated: tensor(
    [
      [0, done ? 1 : 0],
      [0, 0],
    ],
    { dtype: "bool" },
  ),
  truncated: zeros([2, 2], { dtype: "bool" }),
});

function record(marks: number[]) {
  const recorder = new RolloutRecorder();
  for (const mark of marks) {
    recorder.decided(decision(mark), 7);
    recorder.answered(answer(mark, mark === marks.at(-1)));
  }
  return recorder.finish(tensor([[9], [9]]));
}

test("flags and values have one row more than decisions, rewards have as many", () => {
  const rollout = record([1, 2, 3]);
  assert.deepEqual(rollout.logProbs.shape, [3, 2, 2, 3]);
  assert.deepEqual(rollout.dones.shape, [4, 2, 2]);
  assert.deepEqual(rollout.values?.toArray(), [1, 1.5, 2, 2.5, 3, 3.5, 9, 9]);
  assert.deepEqual(rollout.dones.toArray().map(Number), [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0]);
  assert.deepEqual(rollout.rewards.select(1, 0).select(1, 1).toArray(), [1, 2, 3]);
  assert.deepEqual(rollout.versions.toArray().map(Number), [7, 7, 7, 7, 7, 7]);
});

test("rollout epochs stand side by side, and can be taken apart again", () => {
  const both = concatColumns([record([1, 2]), record([5, 6])]);
  assert.deepEqual(both.rewards.shape, [2, 4, 2]);
  assert.deepEqual(both.forwardInputs.ids?.toArray().map(Number), [1, 2, 5, 6, 2, 3, 6, 7]);
  assert.deepEqual(sliceColumns(both, 2, 2).logProbs.toArray(), record([5, 6]).logProbs.toArray());
});

test("a recorder frees what it was given once it has stacked it", () => {
  const before = liveTensors();
  const rollout = scope(() => record([1, 2, 3]));
  assert.equal(liveTensors() - before, Object.keys(rollout).length); // one forward input stands for its record
});

test("an answer without a decision, or a rollout that lacks one, is an internal error", () => {
  const recorder = new RolloutRecorder();
  assert.throws(() => recorder.answered(answer(1)), /internal/);
  recorder.decided(decision(1, false), 0);
  assert.throws(() => recorder.decided(decision(2, false), 0), /internal/);
  assert.throws(() => recorder.finish(), /internal/);
});

const observation = (mark: number, wrist = false) => ({
  mainImages: zeros([2, 4, 4, 3], { dtype: "uint8" }).add_(mark),
  ...(wrist && { wristImages: zeros([2, 1, 4, 4, 3], { dtype: "uint8" }) }),
  states: tensor([[mark], [mark + 0.5]]),
  taskDescriptions: [`task ${mark}`, `task ${mark}b`],
});

test("observations are joined, sliced and picked with their sentences", () => {
  const joined = concatObservations([observation(1), observation(2)]);
  assert.deepEqual(joined.taskDescriptions, ["task 1", "task 1b", "task 2", "task 2b"]);
  assert.deepEqual(sliceObservation(joined, 1, 2).states.toArray(), [1.5, 2]);
  const picked = selectObservation(joined, tensor([3, 0], { dtype: "int64" }));
  assert.deepEqual(picked.taskDescriptions, ["task 2b", "task 1"]);
  assert.deepEqual(picked.states.toArray(), [2.5, 1]);
});

test("observations with and without a wrist camera cannot be joined", () => {
  assert.throws(
    () => concatObservations([observation(1), observation(2, true)]),
    /only some observations have wristImages/,
  );
});
