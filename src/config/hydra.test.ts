import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { compose } from "./compose.ts";
import { resolveInterpolations } from "./interpolation.ts";
import { SearchPath } from "./search-path.ts";
import { plain } from "./tree.ts";

/** What Hydra itself composed, recorded by record-hydra.py beside the files. */
const folder = new URL("../../test/fixtures/config/", import.meta.url);
const read = (name: string) => JSON.parse(readFileSync(new URL(name, folder), "utf8"));
const cases: [string, string[]][] = read("cases.json");
const answers: { config?: unknown; refused?: string }[] = read("hydra.json");
const search = new SearchPath([fileURLToPath(new URL("tree", folder))]);

for (const [i, [id, overrides]] of cases.entries()) {
  const composed = () => plain(resolveInterpolations(compose({ search, id, overrides }).root, {}));
  const answer = answers[i];
  if (answer?.refused) {
    test(`${id} with ${overrides.join(" ")} is refused, as by Hydra`, () => {
      assert.throws(composed, { name: "UserError" });
    });
  } else {
    test(`${id} with ${overrides.join(" ") || "no overrides"} composes as in Hydra`, () => {
      assert.deepEqual(JSON.parse(JSON.stringify(composed())), answer?.config);
    });
  }
}
