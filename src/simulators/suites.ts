/**
 * The suites of tasks by name, and the asset packs that they are played on.
 *
 * A suite of one's own is a folder of BDDL files about the things of a pack (docs/extend/task.md). Packs are made on first use and
 * kept: they remember what they have read.
 */
import { Catalog } from "#registry";
import type { AssetPack, TaskEntry } from "./engine/pack.ts";
import { liberoPack } from "./libero/pack.ts";
import { liberoSuites } from "./libero/suites.ts";
import { tabletopPack } from "./tabletop/pack.ts";
import { tabletopSuites } from "./tabletop/suites.ts";

/** Tasks, and how the pack that has their things is made. */
export interface SuiteEntry {
  readonly tasks: readonly TaskEntry[];
  readonly makePack: () => AssetPack;
}

export interface Suite {
  readonly name: string;
  readonly pack: AssetPack;
  readonly tasks: readonly TaskEntry[];
}

const entriesOf = (all: Readonly<Record<string, readonly TaskEntry[]>>, makePack: () => AssetPack) =>
  Object.entries(all).map(([name, tasks]): [string, SuiteEntry] => [name, { tasks, makePack }]);

export const suites = new Catalog<SuiteEntry>(
  "suite",
  Object.fromEntries([...entriesOf(tabletopSuites, tabletopPack), ...entriesOf(liberoSuites, liberoPack)]),
);

const made = new Map<string, AssetPack>();

/** Every suite that can be named, in the order in which they are offered. */
export const suiteNames = (): string[] => suites.entries().map(([name]) => name);

export function findSuite(name: string): Suite {
  const { tasks, makePack } = suites.find(name);
  const pack = made.get(name) ?? makePack();
  made.set(name, pack);
  return { name, pack, tasks };
}
