import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { apiText, page } from "../scripts/document-api.ts";

test("the API page says what the public door offers; mend it with: node --import tsx scripts/document-api.ts", () => {
  assert.equal(readFileSync(page, "utf8"), apiText());
});
