/**
 * What a world's own truth report says before a policy is trained in it.
 *
 * A world that lies too often teaches its lies: in a trial, one with 37 % false successes raised success in the dream and lowered it in the
 * simulator; one with 28 % helped. So a report beyond these bounds is told at the start of a run. It does not stop it.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { EnvironmentConfig } from "#config";
import { worldFolder } from "#envs";
import { readJsonFile } from "#formats";

const mostFalse = 0.3;
const leastAgreement = 0.8;
const mostMissed = 0.5;

/** Shares of nothing are null in the file. */
const meter = z.looseObject({ share: z.number().nullable() });
const reportSchema = z.looseObject({ falseSuccess: meter, missedSuccess: meter, agreement: meter });

/** Undefined where all is well, or where nothing was measured. */
export function truthWarning(section: EnvironmentConfig): string | undefined {
  const folder = worldFolder(section);
  const given = section.truth_report;
  const path = typeof given === "string" ? given : folder && join(folder, "truth.json");
  if (!path || !existsSync(path)) return undefined;
  const parsed = reportSchema.safeParse(readJsonFile(path));
  if (!parsed.success) return `warning: ${path} is not a truth report`;
  const { falseSuccess, missedSuccess, agreement } = parsed.data;
  const faults = [
    ...fault("of imagined successes are false", falseSuccess.share, (share) => share > mostFalse),
    ...fault("of real successes are missed", missedSuccess.share, (share) => share > mostMissed),
    ...fault("of episodes agree with the simulator", agreement.share, (share) => share < leastAgreement),
  ];
  if (faults.length === 0) return undefined;
  return `warning: ${path} says that ${faults.join(", ")}: a policy will learn this world's mistakes; train the world further first`;
}

const fault = (what: string, share: number | null, bad: (share: number) => boolean): string[] =>
  share !== null && bad(share) ? [`${(100 * share).toFixed(0)} % ${what}`] : [];
