/** The worker that refreshes a world: opens recordings, and makes a candidate or only measures. */
import { openImagination, withWorldFolder, worldPrecision } from "#envs";
import { type Demonstrations, openDemonstrations } from "#recordings";
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
import type { RefreshAnswer, RefreshOrder, RefreshProgress } from "./refresh-order.ts";

type Tell = (progress: RefreshProgress) => void;

export const openRefresher = () => ({ refresh });
export type Refresher = ReturnType<typeof openRefresher>;

async function refresh(order: RefreshOrder, tell: Tell): Promise<RefreshAnswer> {
  const { world, candidate, device, settings } = order;
  if (device !== "cpu") allowTf32(true);
  const exam = new RecordedFrames([openDemonstrations(order.exam)], device);
  const open = openerOf(order);
  const onProgress = (done: number, total: number) => tell({ what: "exam", done, total });
  if (candidate === undefined) {
    const before = await measureWorld(world, exam, settings, open, onProgress);
    const { falsePositive, missedSuccess, agreement } = before;
    const reason =
      `false positives ${percent(falsePositive.share)}, missed successes ${percent(missedSuccess.share)}, ` +
      `agreement ${percent(agreement.share)}`;
    return { accepted: false, reason, before: shortReport(before) };
  }
  const lessons = new RecordedFrames(lessonsOf(order), device);
  const wishes = { world, candidate, lessons, exam, settings, open, hooksOf: hooksFor(tell), onProgress };
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

const hooksFor =
  (tell: Tell) =>
  (what: string): LoopHooks => ({
    reportEvery: 20,
    onProgress: ({ step, steps }) => tell({ what, done: step, total: steps }),
  });
