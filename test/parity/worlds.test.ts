/** The recorded cases that we have all pass; `npm run parity -- worlds DIR` runs any other folder. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { needsShared, sharedFolder } from "../shared.ts";
import { run } from "./worlds.ts";

for (const kind of ["opensora", "wan", "evac", "reward"]) {
  test(`every recorded ${kind} number is ours too`, { skip: needsShared() }, async () => {
    const cases = await run(join(sharedFolder()!, "fixtures/worlds", kind));
    assert.ok(cases.length > 10);
    assert.deepEqual(
      cases.filter(({ ok }) => !ok),
      [],
    );
  });
}

test("a folder without recordings is refused with the names it may hold", async () => {
  await assert.rejects(run("/nowhere"), /opensora, wan, evac, reward/);
});
