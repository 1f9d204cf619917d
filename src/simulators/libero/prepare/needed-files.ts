/**
 * Which files LIBERO's suites need, found by following them: tasks name categories and stages, those name MJCF files,
 * and MJCF files name meshes and textures. So only what is used is fetched, and each missing file has a name.
 */

import { dirname, join, normalize } from "node:path/posix";
import { assetIdentity, parseBddl, parseXml } from "#engine";
import { ownEntry } from "#registry";
import { liberoObjects } from "../objects.ts";
import { liberoProblems, liberoRobots } from "../problems.ts";
import { liberoSuites } from "../suites.ts";

const decoder = new TextDecoder();

/** Where following begins: all tasks and their stored states, the base scene and the robots. */
export function firstFiles(): string[] {
  const tasks = (liberoSuites.libero_130 ?? []).flatMap(({ bddl, initStates }) => [bddl, initStates]);
  const robots = Object.values(liberoRobots).flatMap(({ xml, gripper, mount }) => [
    xml,
    gripper.xml,
    mount?.xml,
  ]);
  return [...new Set([...tasks, "robosuite/base.xml", ...robots.filter((file) => file !== undefined)])];
}

/** The files that this one needs besides itself. */
export function neededBy(file: string, bytes: Uint8Array): string[] {
  if (file.endsWith(".bddl")) return neededByTask(file, decoder.decode(bytes));
  if (file.endsWith(".xml")) return neededByModel(file, decoder.decode(bytes));
  return [];
}

function neededByTask(file: string, text: string): string[] {
  const task = parseBddl(text, file);
  const stage = ownEntry(liberoProblems, task.problem)?.sceneXml;
  const categories = [...task.objects, ...task.fixtures].map(
    ({ category }) => ownEntry(liberoObjects, category)?.xml,
  );
  return [stage, ...categories].filter((found) => found !== undefined);
}

function neededByModel(file: string, text: string): string[] {
  const assets = parseXml(text, file).child("asset")?.children ?? [];
  const stage = Object.values(liberoProblems).find(({ sceneXml }) => sceneXml === file);
  const seen = new Set<string>();
  return assets.flatMap((asset) => {
    const named = asset.get("file");
    const repeated = seen.has(assetIdentity(asset)); // merging drops it, and some files exist for no other
    seen.add(assetIdentity(asset));
    if (named === undefined || repeated) return [];
    const path = normalize(join(dirname(file), named));
    const replacement = stage?.textures[asset.get("name") ?? ""];
    return [replacement === undefined ? path : join(dirname(path), replacement)];
  });
}
