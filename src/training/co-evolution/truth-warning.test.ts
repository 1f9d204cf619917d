import assert from "node:assert/strict";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { EnvironmentConfig } from "#config";
import { truthWarning } from "./truth-warning.ts";

function warningOf(report: object | undefined): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), "reverie-truth-"));
  if (report) writeFileSync(join(folder, "truth.json"), JSON.stringify(report));
  return truthWarning({ opensora_wm_hf_ckpt_path: folder } as unknown as EnvironmentConfig);
}
const report = (lies: number | null, missed: number, agreed: number) => ({
  falseSuccess: { share: lies },
  missedSuccess: { share: missed },
  agreement: { share: agreed },
});

test("a world that was measured and is true enough, or was never measured, is not remarked upon", () => {
  assert.equal(warningOf(report(0.2, 0.1, 0.86)), undefined);
  assert.equal(warningOf(undefined), undefined);
});

test("a world that lies, misses or disagrees too often is told at the start, each fault by its number", () => {
  assert.match(warningOf(report(0.37, 0.1, 0.75)) ?? "", /37 % of imagined.*75 % of episodes agree/);
  const blind = warningOf(report(null, 0.98, 0.5)) ?? "";
  assert.match(blind, /98 % of real successes are missed, 50 %/);
  assert.doesNotMatch(blind, /false/);
});

test("a file that is no report says so", () => {
  assert.match(warningOf({ hello: 1 }) ?? "", /is not a truth report/);
});
