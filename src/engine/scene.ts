/**
 * Assembles a MuJoCo scene from a task and an asset pack.
 *
 * The result is the MJCF text that robosuite 1.4.1 with LIBERO would compile, element for element, and the facts about
 * it that placement, predicates and observations need. It is a pure function of its files: compile it once per task.
 */
import { existsSync } from "node:fs";
import { UserError } from "#registry";
import type { BddlTask, Instance } from "./bddl.ts";
import type { AssetPack, Problem, Robot } from "./pack.ts";
import { checkPlacements } from "./placement.ts";
import { addZone, loadArena } from "./scene-arena.ts";
import { type LoadedObject, loadObject, type SceneObject } from "./scene-object.ts";
import { loadPart, mergeAssets, mergePart } from "./scene-part.ts";
import { bindRegion, type SceneRegion } from "./scene-region.ts";
import { loadRobot } from "./scene-robot.ts";
import { writeXml } from "./xml.ts";

export interface Scene {
  readonly pack: AssetPack;
  readonly task: BddlTask;
  readonly problem: Problem;
  readonly robot: Robot;
  /** MJCF with absolute asset paths. */
  readonly xml: string;
  /** Movable objects, then fixtures: the order of their joints in qpos. */
  readonly objects: readonly SceneObject[];
  /** By full name. A region that no part of the scene carries is absent. */
  readonly regions: ReadonlyMap<string, SceneRegion>;
}

export function assembleScene(pack: AssetPack, task: BddlTask): Scene {
  const problem = lookUp(pack.problems, task.problem, `${task.file}: no problem`, pack);
  const robot = lookUp(pack.robots, problem.robot, `${task.file}: no robot`, pack);
  const loaded = loadObjects(pack, task, problem);
  const world = loadPart(pack.resolve(pack.baseXml));
  world.root.child("option")?.set("timestep", String(pack.control.period / pack.control.substeps));
  const arena = loadArena(pack, problem);
  const regions = new Map<string, SceneRegion>();
  for (const region of task.regions) {
    const zone = region.name.includes(problem.workspaceName);
    const bound = zone
      ? {
          name: region.name,
          parent: undefined,
          joints: [],
          size: addZone(arena, problem, region, `${task.file}:${region.line}`),
        }
      : bindRegion(region.name, loaded);
    if (bound) regions.set(region.name, bound);
  }
  mergePart(world, arena);
  mergePart(world, loadRobot(pack, robot, problem.robotBase));
  for (const { part, body } of loaded) {
    mergeAssets(world, part);
    world.worldbody.children.push(body);
  }
  for (const asset of world.asset.children) checkFile(pack, asset.get("file"));
  const objects = loaded.map(({ info }) => info);
  checkNames(task, objects, regions);
  const scene = { pack, task, problem, robot, xml: writeXml(world.root), objects, regions };
  checkPlacements(scene);
  return scene;
}

function lookUp<T>(table: Readonly<Record<string, T>>, name: string, complaint: string, pack: AssetPack): T {
  if (Object.hasOwn(table, name)) return table[name]!;
  const known = Object.keys(table).sort().join(", ");
  throw new UserError(`${complaint} named "${name}" in the ${pack.name} pack; there are: ${known}`);
}

function loadObjects(pack: AssetPack, task: BddlTask, problem: Problem): LoadedObject[] {
  const seen = new Set<string>();
  const load = ({ name, category, line }: Instance, fixture: boolean): LoadedObject => {
    const where = `${task.file}:${line}`;
    if (seen.has(name)) throw new UserError(`${where}: a second thing named ${name}`);
    seen.add(name);
    const definition = lookUp(pack.objects, category, `${where}: no object category`, pack);
    return loadObject({ name, category, definition, fixture, path: pack.resolve(definition.xml) });
  };
  const fixtures = task.fixtures.filter(({ category }) => category !== problem.workspaceCategory);
  return [...task.objects.map((it) => load(it, false)), ...fixtures.map((it) => load(it, true))];
}

/** MuJoCo would name a missing file too, but not say where it should have come from. */
function checkFile(pack: AssetPack, path: string | undefined): void {
  if (path === undefined) return;
  pack.verify?.(path);
  if (!existsSync(path))
    throw new UserError(`a scene of the ${pack.name} pack needs ${path}, which is not there`);
}

/** Every name in `:init` and `:goal` must be an instance or a region of the scene. */
function checkNames(
  task: BddlTask,
  objects: readonly SceneObject[],
  regions: ReadonlyMap<string, SceneRegion>,
): void {
  const names = new Set([...objects.map(({ name }) => name), ...regions.keys()]);
  for (const { name, args, line } of [...task.init, ...task.goal])
    for (const arg of args) {
      if (names.has(arg)) continue;
      const known = [...names].sort().join(", ");
      throw new UserError(`${task.file}:${line}: (${name} …) speaks of "${arg}"; this scene has: ${known}`);
    }
}
