import assert from "node:assert/strict";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { EnvironmentConfig } from "#config";
import { truthWarning } from "./truth-warning.ts";

function warningOf(report: object | undefined, closedLoop?: object): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), "reverie-truth-"));
  if (closedLoop) writeFileSync(join(folder, "truth-policy.json"), JSON.stringify(closedLoop));
  if (report) writeFileSync(join(folder, "truth.json"), JSON.stringify(report));
  return truthWarning({ opensora_wm_hf_ckpt_path: folder } as unknown as EnvironmentConfig);
}
const report = (falsePositive: number | null, missed: number, agreed: number) => ({
  falsePositive: { share: falsePositive },
  falseSuccess: { share: 0.9 }, // depends on the policy: it is not what warns
  missedSuccess: { share: missed },
  trueSuccess: { share: 0.5 },
  agreement: { share: agreed },
});

test("a world that was measured and is true enough, or was never measured, is not remarked upon", () => {
  assert.equal(warningOf(report(0.2, 0.1, 0.86)), undefined);
  assert.equal(warningOf(undefined), undefined);
});

test("a world that lies, misses or disagrees too often is told at the start, each fault by its number", () => {
  assert.match(
    warningOf(report(0.37, 0.1, 0.75)) ?? "",
    /37 % of real failures are imagined as successes.*75 % of episodes agree/,
  );
  const blind = warningOf(report(null, 0.98, 0.5)) ?? "";
  assert.match(blind, /98 % of real successes are missed, 50 %/);
  assert.doesNotMatch(blind, /failures/);
});

test("the closed loop's report counts where there is one", () => {
  assert.match(
    warningOf(report(0.1, 0.1, 0.9), report(0.4, 0.1, 0.7)) ?? "",
    /truth-policy\.json.*40 % of real failures/,
  );
  assert.equal(warningOf(report(0.4, 0.1, 0.7), report(0.1, 0.1, 0.9)), undefined);
});

test("a report of an earlier version is converted: 40 false successes among 100 failures are 40 %", () => {
  const old = {
    falseSuccess: { share: 0.31, count: 40, of: 129 },
    missedSuccess: { share: 0.1 },
    trueSuccess: { share: 0.5, count: 100, of: 200 },
    agreement: { share: 0.9 },
  };
  assert.match(warningOf(old) ?? "", /says that 40 % of real failures/);
});

test("a file that is no report says so", () => {
  assert.match(warningOf({ hello: 1 }) ?? "", /is not a truth report/);
});
