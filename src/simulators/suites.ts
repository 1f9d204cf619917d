/** Finds the asset pack of a suite. Packs are made on first use and kept: they remember what they have read. */
import { UserError } from "#registry";
import type { AssetPack, TaskEntry } from "./engine/pack.ts";
import { liberoPack } from "./libero/pack.ts";
import { liberoSuites } from "./libero/suites.ts";
import { tabletopPack } from "./tabletop/pack.ts";
import { tabletopSuites } from "./tabletop/suites.ts";

const makers = [
  { suites: tabletopSuites, make: tabletopPack },
  { suites: liberoSuites, make: liberoPack },
] as const;
const made = new Map<string, AssetPack>();

export interface Suite {
  readonly name: string;
  readonly pack: AssetPack;
  readonly tasks: readonly TaskEntry[];
}

/** Every suite that can be named, in the order in which they are offered. */
export const suiteNames: readonly string[] = makers.flatMap(({ suites }) => Object.keys(suites));

export function findSuite(name: string): Suite {
  const maker = makers.find(({ suites }) => Object.hasOwn(suites, name));
  if (!maker) throw new UserError(`no suite named "${name}"; there are: ${suiteNames.join(", ")}`);
  const pack = made.get(name) ?? maker.make();
  made.set(name, pack);
  return { name, pack, tasks: maker.suites[name] ?? [] };
}
