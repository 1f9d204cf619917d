/** `world refresh`: one round of co-evolution by hand; see `#training`'s refresh. */
import { basename, dirname, resolve } from "node:path";
import { openDemonstrations } from "#recordings";
import { UserError } from "#registry";
import { RecordedFrames, refreshSettings, refreshWorld, trainingOfWorld, truthTable } from "#world-training";
import { checked } from "../option-values.ts";
import { inOwnFolder } from "../own-folder.ts";
import type { WorldArguments } from "./arguments.ts";
import { progressLine } from "./progress.ts";

export async function refresh({ data, exam, world, device, settings }: WorldArguments): Promise<void> {
  if (data.length === 0 || exam.length === 0) {
    throw new UserError(
      "refresh with what? give --data DIR (old and new recordings) and --exam DIR (episodes of the current policy, kept apart)",
    );
  }
  const [lessons, test] = [data, exam].map(
    (folders) => new RecordedFrames(folders.map(openDemonstrations), device),
  );
  const wished = checked(refreshSettings, settings);
  await trainingOfWorld(world); // refused before anything is recorded or learned
  // The world's folder is replaced, so the lock lies beside it.
  const part = `${basename(resolve(world))}.refresh`;
  const outcome = await inOwnFolder(dirname(resolve(world)), { what: `refresh of ${world}`, part }, () =>
    refreshWorld(world, lessons!, test!, wished, { reportEvery: 100, onProgress: progressLine("refresh") }),
  );
  console.log(truthTable(outcome.accepted ? outcome.after : outcome.before));
  console.log(
    `${outcome.accepted ? "the world was refreshed" : "rolled back: the meters got worse"}: ${outcome.reason}`,
  );
}
