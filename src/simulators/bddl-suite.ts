/**
 * A suite of one's own: a folder of BDDL files about the things of our tabletop, one task each.
 *
 * Shipped suites have stored starts in files. Those of such a suite are drawn when they are first needed, by the same samplers and from
 * seeds of the same range, so that every process of a run has the same ones.
 */

import { existsSync, readdirSync, statSync } from "node:fs";
import { basename, isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  type AssetPack,
  assembleScene,
  type InitStates,
  readBddl,
  SceneSimulation,
  type TaskEntry,
} from "#engine";
import { Mt19937 } from "#random";
import { UserError } from "#registry";
import { storedStartSeed } from "./starts/start-seeds.ts";
import type { SuiteEntry } from "./suites.ts";
import { drawStart } from "./tabletop/make-starts.ts";
import { tabletopPack } from "./tabletop/pack.ts";

export interface BddlSuite {
  /** Where the `.bddl` files are; tasks are numbered in the order of their names. */
  readonly folder: string | URL;
  /** Starts of each task that training draws from and evaluations play. */
  readonly startsPerTask?: number;
}

/** Playable as `env_type: libero, task_suite_name: NAME`; the sentence of a task is its `:language`. */
export function bddlSuite({ folder: given, startsPerTask = 20 }: BddlSuite): SuiteEntry {
  const folder = given instanceof URL ? fileURLToPath(given) : given;
  if (!existsSync(folder) || !statSync(folder).isDirectory())
    throw new UserError(`a suite's folder of BDDL files is missing: ${folder}`);
  const files = readdirSync(folder)
    .filter((name) => name.endsWith(".bddl"))
    .sort();
  if (files.length === 0)
    throw new UserError(`${folder} has no .bddl files: a suite needs one for each task`);
  if (!Number.isInteger(startsPerTask) || startsPerTask < 1 || startsPerTask > 1000)
    throw new UserError(`startsPerTask is ${startsPerTask}; a task has 1 to 1000 starts`);
  const tasks = files.map((file) => entryOf(join(folder, file)));
  return { tasks, makePack: () => packOf(tasks, startsPerTask) };
}

const entryOf = (path: string): TaskEntry => ({
  name: basename(path, ".bddl"),
  language: readBddl(path).language,
  bddl: path,
  initStates: path, // drawn, not read: only their identity counts
});

function packOf(tasks: readonly TaskEntry[], count: number): AssetPack {
  const base = tabletopPack();
  const drawn = new Map<string, InitStates>();
  const pack: AssetPack = {
    ...base,
    suites: { ...base.suites, own: tasks },
    resolve: (file) => (isAbsolute(file) ? file : base.resolve(file)),
    readInitStates(task) {
      const known = drawn.get(task.bddl) ?? drawStarts(pack, task, count);
      drawn.set(task.bddl, known);
      return known;
    },
  };
  return pack;
}

/** Rows `[time, qpos…, qvel…]` at rest. */
function drawStarts(pack: AssetPack, task: TaskEntry, count: number): InitStates {
  const scene = assembleScene(pack, readBddl(task.bddl));
  using world = new SceneSimulation(scene, SceneSimulation.compile(scene));
  const index = Object.values(pack.suites).flat().indexOf(task);
  const { qpos, qvel } = world.simulation;
  const width = 1 + qpos.length + qvel.length;
  const data = new Float64Array(count * width);
  for (let start = 0; start < count; start++) {
    const positions = drawStart(world, new Mt19937(storedStartSeed(index, start)), false);
    data.set(Float32Array.from(positions), start * width + 1); // as precise as stored ones
  }
  return { count, width, data };
}
