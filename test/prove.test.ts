/** The proofs as a whole: each can be listed, and the command's words are understood. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { proofNamed, proofNames } from "../prove/catalogue.ts";
import { Checks } from "../prove/proof.ts";

test("every file of prove/proofs says what it claims, its goal and how long it takes", async () => {
  for (const name of proofNames()) {
    const { claim, goal, minutes, run } = await proofNamed(name);
    assert.ok(claim.length > 10 && goal.length > 3 && minutes > 0, name);
    assert.equal(typeof run, "function", name);
  }
});

test("a proof that does not exist is refused with the way to find those that do", async () => {
  await assert.rejects(proofNamed("no-such-proof"), /there is no proof named no-such-proof[\s\S]*list/);
});

test("checks hold only if all of them held, and a proof without checks proves nothing", () => {
  const said: string[] = [];
  const checks = new Checks((line) => said.push(line));
  assert.equal(checks.outcome().ok, false);
  checks.check("one", true);
  assert.deepEqual(checks.outcome(), { ok: true, figure: "1 of 1 checks hold" });
  checks.check("two", false, "three");
  assert.deepEqual(checks.outcome(), { ok: false, figure: "1 of 2 checks hold" });
  assert.deepEqual(said, ["ok   one", "MISS two: found three"]);
});
