/** Scenes of every purpose and suite, drawn by the product's samplers from the plans of the commands, and compared position by position. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { collectSettingsSchema, recordingSettings } from "#recordings";
import { findSuite, freshStartSeed, liberoFolder, type StartPurpose, suiteNames } from "#simulators";
import { planEpisodes as planDemonstrations } from "../../src/cli/collect/collect.ts";
import { planEpisodes as planRecordings } from "../../src/world-training/recording/recording.ts";
import { examJob } from "../../src/world-training/truth/truth-source.ts";
import { SceneDrawer } from "../drawn-scenes.ts";
import { Checks, type Proof } from "../proof.ts";

/** Scenes drawn of each task and purpose: those of the first episodes that a command with seed 0 would play. */
const perTask = 6;

interface Drawn {
  readonly purpose: StartPurpose;
  readonly key: string;
}

export const proof: Proof = {
  claim:
    "Stored starts, demonstrations, recordings for worlds, exams and fresh evaluation starts have no scene in common, in every suite.",
  goal: "0 common scenes",
  minutes: 2,
  async run(say) {
    const checks = new Checks(say);
    const hasLibero = existsSync(join(liberoFolder(), "manifest.json"));
    let [scenes, common] = [0, 0];
    for (const suite of suiteNames()) {
      if (suite.startsWith("libero") && !hasLibero) {
        say(`     ${suite}: left out, LIBERO's files are not here (reverie fetch libero)`);
        continue;
      }
      const found = compareSuite(suite);
      scenes += found.scenes;
      common += found.common.length;
      checks.check(
        `${suite}: ${found.scenes} scenes of ${found.tasks} tasks, none common`,
        found.common.length === 0,
        found.common.join(", "),
      );
    }
    const met = oldSeedsMet();
    checks.check(
      "the same comparison finds the stored starts that demonstrations of before met",
      met === 2,
      `${met}`,
    );
    const { ok } = checks.outcome();
    return { ok, figure: `${common} common scenes of ${scenes}` };
  },
};

function compareSuite(suite: string): { scenes: number; tasks: number; common: string[] } {
  // LIBERO's large suites repeat the scenes of their tasks' rooms: two tasks of each show the sampler.
  const tasks = suite.startsWith("libero") ? [0, 1] : [...findSuite(suite).tasks.keys()];
  const common: string[] = [];
  let scenes = 0;
  for (const task of tasks) {
    const owners = new Map<string, StartPurpose>();
    for (const { purpose, key } of drawnOf(suite, task)) {
      scenes++;
      const other = owners.get(key);
      if (other !== undefined && other !== purpose) common.push(`task ${task}: ${purpose} and ${other}`);
      owners.set(key, purpose);
    }
  }
  return { scenes, tasks: tasks.length, common };
}

function drawnOf(suite: string, task: number): Drawn[] {
  using drawer = new SceneDrawer(suite, task);
  const { length } = findSuite(suite).tasks;
  const own = (jobs: readonly { readonly task: number; readonly seed: number }[]): number[] =>
    jobs.flatMap((job) => (job.task === task ? [job.seed] : []));
  const episodes = perTask * length;
  const settings = collectSettingsSchema.parse({ suite });
  const tasks = [...findSuite(suite).tasks.keys()];
  const recording = (purpose: "recordings" | "exams") =>
    own(planRecordings(recordingSettings.parse({ suite, purpose }), episodes));
  const seeds: Readonly<Record<"demonstrations" | "recordings" | "exams", readonly number[]>> = {
    demonstrations: own(planDemonstrations({ settings, tasks, episodesPerTask: perTask })),
    recordings: recording("recordings"),
    exams: [
      ...recording("exams"),
      ...own(Array.from({ length: episodes }, (_, index) => examJob(length, 1, index))),
    ],
  };
  const drawn = Object.entries(seeds).flatMap(([purpose, list]) =>
    list.map((seed) => ({ purpose: purpose as StartPurpose, key: drawer.recorded(seed) })),
  );
  const fresh = Array.from({ length: perTask }, (_, trial) => ({
    purpose: "fresh" as const,
    key: drawer.evaluated(freshStartSeed(0, task, trial), trial),
  }));
  return [...drawer.stored().map((key) => ({ purpose: "stored" as const, key })), ...drawn, ...fresh];
}

/** Demonstrations of tabletop_spatial used to draw episode i with seed i: 1002 and 1008 of task 0 are its stored starts 2 and 8. */
function oldSeedsMet(): number {
  using drawer = new SceneDrawer("tabletop_spatial", 0);
  const stored = drawer.stored();
  return [1002, 1008].filter((seed) => stored.includes(drawer.recorded(seed))).length;
}
