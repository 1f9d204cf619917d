/** The film of the main job: the first stored start of every task, chosen before anybody knew how it would end. */
import type { CheckedConfig } from "#config";
import { findSuite } from "#simulators";
import { filmEpisodes } from "#training";
import { writePairs } from "./side-by-side.ts";

const pixels = 256; // of the policy's camera, and of the overview beside it
const most = 6;

export async function filmPairs(path: string, before: CheckedConfig, after: CheckedConfig): Promise<void> {
  const section = before.config.env.eval ?? before.config.env.train;
  const filter = section.task_id_filter as readonly number[] | null | undefined;
  const tasks = filter ?? findSuite(String(section.task_suite_name)).tasks.map((_, task) => task);
  const starts = tasks.slice(0, most).map((task) => ({ task, trial: 0 }));
  await writePairs(path, {
    before: await filmEpisodes(before, { starts, pixels }),
    after: await filmEpisodes(after, { starts, pixels }),
    width: 2 * pixels,
    height: pixels,
  });
}
