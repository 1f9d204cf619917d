import assert from "node:assert/strict";
import { test } from "node:test";
import { exhausted, locateStart, type ResetIdOptions, ResetIds } from "./reset-ids.ts";

const base: ResetIdOptions = {
  trials: [3, 2, 3],
  groups: 2,
  groupSize: 1,
  seed: 0,
  instances: 1,
  instance: 0,
  ordered: false,
  evaluation: false,
};

test("an id counts through the starts of each task in turn", () => {
  assert.deepEqual(locateStart(2, base.trials), { task: 0, trial: 2 });
  assert.deepEqual(locateStart(3, base.trials), { task: 1, trial: 0 });
  assert.deepEqual(locateStart(7, base.trials), { task: 2, trial: 2 });
  assert.throws(() => locateStart(8, base.trials), /ids 0 to 7/);
});

test("a group shares its start, consecutively", () => {
  const { current } = new ResetIds({ ...base, groupSize: 3 });
  assert.equal(current.length, 6);
  assert.equal(new Set(current.slice(0, 3)).size, 1);
  assert.equal(new Set(current.slice(3)).size, 1);
});

test("random starts are those of NumPy's generator; an instance takes its part of the whole run's draw", () => {
  const options = { ...base, trials: Array<number>(10).fill(50), groups: 5 };
  // default_rng(1234).integers(0, 500, 5) and default_rng(1230).integers(0, 500, 40)[20:25]
  assert.deepEqual(new ResetIds({ ...options, seed: 1234 }).current, [489, 488, 493, 190, 85]);
  const fifth = new ResetIds({ ...options, seed: 1230, instance: 4, instances: 8 });
  assert.deepEqual(fifth.current, [166, 401, 328, 141, 375]);
});

for (const ordered of [false, true]) {
  test(`${ordered ? "ordered" : "random"} starts do not depend on how many instances share the slots`, () => {
    const split = (instances: number) => {
      const all = Array.from(
        { length: instances },
        (_, instance) =>
          new ResetIds({ ...base, groups: 4 / instances, groupSize: 2, ordered, instances, instance }),
      );
      const draw = () => {
        const ids = all.flatMap((each) => [...each.current]);
        for (const each of all) each.advance();
        return ids;
      };
      const own = all.flatMap((each) =>
        each.drawFor(Array.from({ length: 8 / instances }, (_, slot) => slot)),
      );
      return [draw(), draw(), draw(), own];
    };
    assert.deepEqual(split(2), split(1));
    assert.deepEqual(split(4), split(1));
  });
}

test("ordered training plays every start once, then shuffles again", () => {
  const ids = new ResetIds({ ...base, groups: 4, ordered: true });
  const first = [...ids.current];
  ids.advance();
  assert.deepEqual([...first, ...ids.current].sort(), [0, 1, 2, 3, 4, 5, 6, 7], "every start once");
  ids.advance();
  assert.notDeepEqual(ids.current, first, "a new order");
});

test("evaluation deals (task 0, trial 0), (task 1, trial 0), … round-robin, each start once", () => {
  const dealt = [0, 1].map((instance) => {
    const ids = new ResetIds({ ...base, evaluation: true, instances: 2, instance });
    return [...ids.current, ...ids.take(3)];
  });
  // Interleaved: 0 3 5 | 1 4 6 | 2 7.
  assert.deepEqual(dealt, [
    [0, 5, 4, 2, exhausted],
    [3, 1, 6, 7, exhausted],
  ]);
});

test("evaluation restarts from the first start", () => {
  const ids = new ResetIds({ ...base, evaluation: true });
  ids.take(100);
  assert.deepEqual(ids.take(2), [exhausted, exhausted]);
  ids.restart();
  assert.deepEqual(ids.current, [0, 3]);
});

test("a filter leaves only the starts of its tasks, in training and evaluation", () => {
  const filtered = { ...base, taskFilter: [2, 0] };
  const drawn = new ResetIds(filtered).drawFor(Array(200).fill(0));
  assert.deepEqual([...new Set(drawn)].sort(), [0, 1, 2, 5, 6, 7]);
  const ids = new ResetIds({ ...filtered, evaluation: true });
  assert.deepEqual([...ids.current, ...ids.take(4)], [0, 5, 1, 6, 2, 7]);
});

test("a specific start overrides everything", () => {
  const ids = new ResetIds({ ...base, specificId: 6, ordered: true });
  assert.deepEqual(ids.current, [6, 6]);
  assert.deepEqual(ids.drawFor([0, 1]), [6, 6]);
});

test("a saved state draws the same starts again", () => {
  const ids = new ResetIds({ ...base, ordered: true });
  const saved = ids.save();
  const draw = () => {
    ids.advance();
    return [...ids.current, ...ids.drawFor([0, 1, 0])];
  };
  const first = [draw(), draw(), draw()];
  ids.restore(saved);
  assert.deepEqual([draw(), draw(), draw()], first);
});

const mistakes: [string, Partial<ResetIdOptions>, RegExp][] = [
  ["a filter with an unknown task", { taskFilter: [3] }, /names task 3; this suite has tasks 0 to 2/],
  ["an empty filter", { taskFilter: [] }, /task_id_filter is empty/],
  ["a specific start out of range", { specificId: 8 }, /reset id 8: .*0 to 7/],
  ["more groups than ordered starts", { ordered: true, groups: 9 }, /9 groups .* there are 8/],
];
for (const [what, change, message] of mistakes)
  test(`${what} is refused`, () => assert.throws(() => new ResetIds({ ...base, ...change }), message));
