import assert from "node:assert/strict";
import { test } from "node:test";
import type { Observation } from "#data";
import { full, tensor } from "#tensor";
import { testObservation } from "../../test/support/prismatic-checkpoint.ts";
import { decideFor } from "./partial-step.ts";
import type { PolicyLine } from "./policy-line.ts";

/** Says of each slot it is asked about how many were asked. */
const line = {
  decide: async ({ taskDescriptions }: Observation) => {
    const slots = taskDescriptions.length;
    const step = {
      actions: full([slots, 1, 7], 0.5),
      logProbs: full([slots, 7], -1),
      forwardInputs: {
        action_tokens: tensor(BigInt64Array.from({ length: slots }, (_, i) => 700n + BigInt(i))),
      },
    };
    return { step, version: 3 };
  },
} as unknown as PolicyLine;

test("a slot whose episode is over does nothing, and shows a policy what another slot was shown", async () => {
  const { step, version } = await decideFor([1, 2], testObservation(4), line, BigInt);
  assert.equal(version, 3);
  assert.deepEqual(step.forwardInputs.action_tokens!.toArray(), [700, 700, 701, 700]);
  assert.deepEqual(step.logProbs.select(1, 0).toArray(), [0, -1, -1, 0]);
  assert.deepEqual(step.actions.select(2, 0).flatten().toArray(), [0, 0.5, 0.5, 0]);
});
