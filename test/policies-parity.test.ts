/** The recorded cases of the reference policies, as part of the test run of developers who have them. */
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { run } from "./parity/policies.ts";
import { needsShared, sharedFolder } from "./shared.ts";

const root = sharedFolder() ? join(sharedFolder()!, "fixtures/policies") : undefined;
const folders = root ? readdirSync(root).filter((name) => /^(openvla|pi0)/.test(name)) : ["openvla_oft"];

for (const name of folders) {
  test(`${name} gives the reference's numbers`, { skip: needsShared() }, async () => {
    const cases = await run(join(root!, name));
    assert.ok(cases.length >= 10, "hardly anything was compared");
    assert.deepEqual(
      cases.filter(({ ok }) => !ok),
      [],
    );
  });
}
