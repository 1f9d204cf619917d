import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { readClaim } from "#claims";
import { Ledger } from "./ledger.ts";
import { planClaim } from "./plan.ts";
import { planText } from "./plan-text.ts";

const folder = fileURLToPath(new URL("../../../examples/claims", import.meta.url));
const out = join(tmpdir(), "reverie-no-such-claim");

for (const name of readdirSync(folder)) {
  test(`the claim ${name} can be planned, with its controls`, async () => {
    const claim = readClaim(join(folder, name));
    const plan = await planClaim(claim, { name, out, requireFiles: false });
    const text = planText(plan, new Ledger(out));
    assert.equal(text.match(/^to do +npx reverie /gm)?.length, plan.parts.length);
    assert.ok(plan.parts.some(({ words }) => words.includes("algorithm.shuffle_advantages=true")));
    assert.ok(!existsSync(out));
  });
}

test("what is wrong with the configuration of any arm is said before anything starts", async () => {
  const claim = readClaim(join(folder, "tabletop_object_grpo.yaml"), [
    "arms.control.overrides=[algorithm.gama=1]",
    "evaluations.stored.config=nowhere",
    "overrides=[runner.save_interval=-1]",
  ]);
  await assert.rejects(planClaim(claim, { name: "x", out, requireFiles: false }), (error: Error) => {
    assert.match(error.message, /true_0: runner\.save_interval is 0 or less/);
    assert.match(error.message, /control_0: .*\n.*algorithm\.gama/);
    assert.match(error.message, /evaluation stored: no configuration "nowhere"/);
    return true;
  });
});
