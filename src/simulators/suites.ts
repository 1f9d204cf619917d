/**
 * The suites of tasks by name, and the asset packs that they are played on.
 *
 * A suite of one's own is a folder of BDDL files about the things of a pack (docs/extend/task.md). Packs are made on first use and
 * kept: they remember what they have read.
 */
import type { AssetPack, TaskEntry } from "#engine";
import { Catalog } from "#registry";
import { homePack } from "./home/pack.ts";
import { homeSuites } from "./home/suites.ts";
import { liberoPack } from "./libero/pack.ts";
import { liberoSuites } from "./libero/suites.ts";
import { tabletopPack } from "./tabletop/pack.ts";
import { tabletopSuites } from "./tabletop/suites.ts";

/** Tasks, and how the pack that has their things is made. */
export interface SuiteEntry {
  readonly tasks: readonly TaskEntry[];
  readonly makePack: () => AssetPack;
  /** Of the robot; one where it is absent. */
  readonly hands?: number;
  /** Control steps within which an expert solves a task, with room for a second try; 60 where it is absent. */
  readonly expertSteps?: number;
}

export interface Suite {
  readonly name: string;
  readonly pack: AssetPack;
  readonly tasks: readonly TaskEntry[];
  readonly expertSteps: number;
}

type About = Omit<SuiteEntry, "tasks">;
const entriesOf = (all: Readonly<Record<string, readonly TaskEntry[]>>, about: (suite: string) => About) =>
  Object.entries(all).map(([name, tasks]): [string, SuiteEntry] => [name, { tasks, ...about(name) }]);

export const suites = new Catalog<SuiteEntry>(
  "suite",
  Object.fromEntries([
    ...entriesOf(tabletopSuites, (name) => ({
      makePack: tabletopPack,
      expertSteps: name === "tabletop_long" ? 120 : 60,
    })),
    ...entriesOf(liberoSuites, () => ({ makePack: liberoPack, expertSteps: 300 })), // a slower arm
    ...entriesOf(homeSuites, (name) => ({
      makePack: homePack,
      hands: 2,
      expertSteps: name === "behavior_long" ? 200 : 100,
    })),
  ]),
);

const made = new Map<string, AssetPack>();

/** Every suite that can be named, in the order in which they are offered; with `hands`, those for a robot with so many. */
export const suiteNames = (hands?: number): string[] =>
  suites
    .entries()
    .flatMap(([name, entry]) => (hands === undefined || (entry.hands ?? 1) === hands ? [name] : []));

export function findSuite(name: string): Suite {
  const { tasks, makePack, expertSteps = 60 } = suites.find(name);
  const pack = made.get(name) ?? makePack();
  made.set(name, pack);
  return { name, pack, tasks, expertSteps };
}
