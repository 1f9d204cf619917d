import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { actorColumns, routes, stageSlots } from "./layout.ts";

test("with two env workers and three rollout workers, blocks overlap where they should", () => {
  assert.deepEqual(routes({ start: 0, length: 6 }, 2, 3), [
    { env: 0, rollout: 0, start: 0, length: 2 },
    { env: 0, rollout: 1, start: 2, length: 1 },
    { env: 1, rollout: 1, start: 3, length: 1 },
    { env: 1, rollout: 2, start: 4, length: 2 },
  ]);
});

test("every slot of every stage travels exactly once, whatever the numbers of workers", () => {
  const count = fc.integer({ min: 1, max: 6 });
  fc.assert(
    fc.property(count, count, count, count, (envs, rollouts, stages, factor) => {
      const slots = envs * rollouts * stages * factor;
      const carried = Array.from({ length: stages }, (_, stage) =>
        routes(stageSlots(slots, stage, stages), envs, rollouts),
      )
        .flat()
        .flatMap(({ start, length }) => Array.from({ length }, (_, i) => start + i));
      assert.deepEqual(
        carried,
        Array.from({ length: slots }, (_, slot) => slot),
      );
    }),
    { numRuns: 300, seed: 4 },
  );
});

test("an actor rank's columns are whole rollout epochs when there are as many ranks as epochs", () => {
  assert.deepEqual(actorColumns(16 * 64, 3, 16), { start: 3 * 64, length: 64 });
  assert.throws(() => actorColumns(10, 0, 3), /internal/);
});
