/** The program of a refreshing process: opens recordings, makes a candidate or only measures, answers, and ends. */

import { openImagination, withWorldFolder, worldPrecision } from "#envs";
import { type Demonstrations, openDemonstrations } from "#recordings";
import { inheritPlugins, liveForParent, UserError } from "#registry";
import { allowTf32 } from "#tensor";
import type { LoopHooks } from "#world-training";
import {
  type ImaginationOpener,
  makeCandidate,
  measureWorld,
  RecordedFrames,
  shortReport,
} from "#world-training";
import { firstEpisodes } from "./first-episodes.ts";
import type { FromRefresher, RefreshAnswer, RefreshOrder } from "./refresh-order.ts";

const tell = (message: FromRefresher): boolean | undefined => process.send?.(message);

liveForParent();
await inheritPlugins();
process.once("message", (order: RefreshOrder) => {
  refresh(order).then(
    (answer) => tell({ kind: "done", answer }),
    (error: unknown) => {
      const isUserError = error instanceof UserError;
      const { message, stack } = error instanceof Error ? error : new Error(String(error));
      tell({ kind: "failed", message: isUserError ? message : (stack ?? message), isUserError });
    },
  );
});

async function refresh(order: RefreshOrder): Promise<RefreshAnswer> {
  const { world, candidate, device, settings } = order;
  if (device !== "cpu") allowTf32(true);
  const exam = new RecordedFrames([openDemonstrations(order.exam)], device);
  const open = openerOf(order);
  const onProgress = (done: number, total: number) => tell({ kind: "progress", what: "exam", done, total });
  if (candidate === undefined) {
    const before = await measureWorld(world, exam, settings, open, onProgress);
    const { falsePositive, missedSuccess, agreement } = before;
    const reason =
      `false positives ${percent(falsePositive.share)}, missed successes ${percent(missedSuccess.share)}, ` +
      `agreement ${percent(agreement.share)}`;
    return { accepted: false, reason, before: shortReport(before) };
  }
  const lessons = new RecordedFrames(lessonsOf(order), device);
  const wishes = { world, candidate, lessons, exam, settings, open, hooksOf, onProgress };
  const { before, after, ...verdict } = await makeCandidate(wishes);
  return { ...verdict, before: shortReport(before), after: shortReport(after) };
}

const percent = (share: number): string =>
  Number.isNaN(share) ? "of none" : `${(100 * share).toFixed(1)} %`;

/** As the run's own envs open it: the same files, sampling steps, judges and precision. */
function openerOf({ section, world, device }: RefreshOrder): ImaginationOpener {
  const place = { device, dtype: worldPrecision(section, device) };
  return (folder) => openImagination(withWorldFolder(section, world, folder), place);
}

/** All new episodes, and as many old ones as asked for, from every old folder alike. */
function lessonsOf({ old, oldEpisodes, fresh }: RefreshOrder): Demonstrations[] {
  const sets = old.map(openDemonstrations);
  const total = sets.reduce((sum, { episodes }) => sum + episodes.length, 0);
  const share = oldEpisodes === undefined ? 1 : Math.min(1, oldEpisodes / total);
  return [
    ...sets.map((set) => firstEpisodes(set, Math.ceil(share * set.episodes.length))),
    ...fresh.map(openDemonstrations),
  ];
}

const hooksOf = (what: string): LoopHooks => ({
  reportEvery: 20,
  onProgress: ({ step, steps }) => tell({ kind: "progress", what, done: step, total: steps }),
});
