/**
 * What a world's own truth report says before a policy is trained in it.
 *
 * A world that takes too many failures for successes teaches its mistakes: in a trial, one whose imagined successes were false in 37 % raised
 * success in the dream and lowered it in the simulator; one with 28 % helped. With the 45 % success of that policy these are about 41 and 27 % of
 * real failures imagined as successes. So a report beyond these bounds is told at the start of a run. It does not stop it.
 *
 * The report of the closed loop, in which a policy acts in the dream (`truth-policy.json`), is what counts where there is one: that is how
 * the world will be used, and recordings make every world look truer than it is there.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { EnvironmentConfig } from "#config";
import { worldFolder } from "#envs";
import { readJsonFile } from "#formats";
import { falsePositiveOf } from "#world-training";

const mostFalsePositive = 0.3;
const leastAgreement = 0.8;
const mostMissed = 0.5;

/** Shares of nothing are null in the file. */
const meter = z.looseObject({
  share: z.number().nullable(),
  count: z.int().min(0).default(0),
  of: z.int().min(0).default(0),
});
const reportSchema = z.looseObject({
  falsePositive: meter.optional().describe("absent in reports of earlier versions"),
  falseSuccess: meter,
  missedSuccess: meter,
  trueSuccess: meter,
  agreement: meter,
});

/** Undefined where all is well, or where nothing was measured. */
export function truthWarning(section: EnvironmentConfig): string | undefined {
  const path = reportPath(section);
  if (!path || !existsSync(path)) return undefined;
  const parsed = reportSchema.safeParse(readJsonFile(path));
  if (!parsed.success) return `warning: ${path} is not a truth report`;
  const { missedSuccess, agreement } = parsed.data;
  const falsePositive = (parsed.data.falsePositive ?? falsePositiveOf(parsed.data)).share;
  const faults = [
    ...fault(
      "of real failures are imagined as successes",
      falsePositive,
      (share) => share > mostFalsePositive,
    ),
    ...fault("of real successes are missed", missedSuccess.share, (share) => share > mostMissed),
    ...fault("of episodes agree with the simulator", agreement.share, (share) => share < leastAgreement),
  ];
  if (faults.length === 0) return undefined;
  return `warning: ${path} says that ${faults.join(", ")}: a policy will learn this world's mistakes; train the world further first`;
}

/** Of the closed loop if there is one; the report that the section names comes first. */
function reportPath(section: EnvironmentConfig): string | undefined {
  const { truth_report: given } = section;
  if (typeof given === "string") return given;
  const folder = worldFolder(section);
  if (!folder) return undefined;
  const closedLoop = join(folder, "truth-policy.json");
  return existsSync(closedLoop) ? closedLoop : join(folder, "truth.json");
}

const fault = (what: string, share: number | null, bad: (share: number) => boolean): string[] =>
  share !== null && !Number.isNaN(share) && bad(share) ? [`${(100 * share).toFixed(0)} % ${what}`] : [];
