import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { LocalChannel, LocalWeightSync } from "#cluster";
import { findSuite } from "#simulators";
import { noGrad } from "#tensor";
import { testObservation } from "../../test/support/prismatic-checkpoint.ts";
import { tinyCheckpoint, tinyOverrides } from "../../test/support/tiny-run.ts";
import { readRun } from "../training/read-run.ts";
import { openPolicy } from "./open-actor.ts";
import type { Answer, Question } from "./policy-line.ts";
import { RemoteRollout } from "./remote-rollout.ts";
import { type Decider, RolloutWorker } from "./rollout-worker.ts";

const sentences = findSuite("tabletop_spatial")
  .tasks.slice(0, 3)
  .map(({ language }) => language);
const sampling = { mode: "sample", temperature: 1, topK: 0 } as const;
const actionSpec = { size: 7, gripper: "minus_one_opens" } as const;

/** What a worker decides for three slots, as plain numbers. */
async function decisions(worker: Decider) {
  const questions = new LocalChannel<Question>();
  const answers = new LocalChannel<Answer>();
  const serving = worker.serve("here", questions, answers, sampling).catch((error) => answers.close(error));
  const observation = { ...testObservation(3), taskDescriptions: sentences };
  await questions.send("here", { from: "me", observation, wants: "decision", seeds: [1n, 2n, 3n] });
  const { step, version } = (await answers.receive("me"))!;
  questions.close();
  await serving;
  return {
    version,
    tokens: step!.forwardInputs.action_tokens!.toArray(),
    logProbs: step!.logProbs.toArray(),
  };
}

test("a worker in a thread decides as one that lives here, also after its weights were renewed", async () => {
  const model = tinyCheckpoint(["tabletop_spatial"], "tabletop");
  const logs = mkdtempSync(join(tmpdir(), "reverie-rollout-"));
  const { config } = await readRun("tabletop_spatial_grpo_openvlaoft_mini", {
    overrides: tinyOverrides({ model, logs }),
  });
  const policy = await openPolicy({ config, actionSpec }, { device: "cpu" });
  const here = new RolloutWorker(policy);
  const there = await RemoteRollout.start({ config, rank: 1, device: "cpu", actionSpec });
  assert.deepEqual(await decisions(there), await decisions(here));
  const before = await decisions(here);
  noGrad(() => {
    for (const weight of policy.module.parameters()) weight.mul_(1.5);
  });
  const sync = new LocalWeightSync();
  await sync.publish(9, policy.module.namedParameters());
  await Promise.all([here, there].map((worker) => worker.refreshWeights(sync)));
  const after = await decisions(there);
  assert.equal(after.version, 9);
  assert.notDeepEqual(after.logProbs, before.logProbs);
  assert.deepEqual(after, await decisions(here));
  assert.ok(there.takeSeconds() > 0);
  await there.close();
});
