/**
 * Keeps apart what a run has left behind: `abandoned/<time>-after-step-N/` gets the checkpoints that are not on its lineage, a copy of the
 * metrics as they were, and the worlds and rounds of co-evolution after that step.
 *
 * Copies come first and moves last, and everything may be done twice: a kill in the middle loses nothing, and the next start goes on.
 */
import {
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
} from "node:fs";
import { basename, join } from "node:path";
import { makeFolder } from "#formats";
import { metricsFile } from "#metrics";
import type { Saved } from "../checkpoint/folder.ts";

/** Where things of a run lie. */
export interface RunPlaces {
  readonly folder: string; // log_path
  readonly checkpoints: string;
  readonly evolution: string;
}

/** A new folder for what came after the given step. */
export function abandonedFolder({ folder }: RunPlaces, step: number, now = new Date()): string {
  const root = makeFolder(join(folder, "abandoned"));
  const time = now
    .toISOString()
    .replace(/[-:]|\..*$/g, "")
    .replace("T", "-");
  for (let again = 1; ; again++) {
    const path = join(root, `${time}-after-step-${step}${again > 1 ? `-${again}` : ""}`);
    if (existsSync(path)) continue;
    mkdirSync(path);
    return path;
  }
}

/** Copies what goes on being written in place. */
export function copyRecords({ folder, evolution }: RunPlaces, to: string): void {
  for (const path of [metricsFile(folder), join(folder, "config.yaml"), join(evolution, "rounds.jsonl")])
    if (existsSync(path)) copyFileSync(path, join(to, basename(path)));
}

/** Moves what must not be found again. The run at a service (W&B) is left too: it takes no step twice. */
export function moveAside(places: RunPlaces, to: string, step: number, checkpoints: readonly Saved[]): void {
  const { folder, evolution } = places;
  for (const { folder: path } of checkpoints) move(path, join(to, "checkpoints"));
  dropDangling(join(places.checkpoints, "best"));
  dropDangling(join(places.checkpoints, "latest"));
  for (const kind of ["worlds", "rounds"])
    for (const path of later(join(evolution, kind), step)) move(path, join(to, "co-evolution", kind));
  const services = join(folder, "services.json");
  if (existsSync(services)) move(services, to);
}

function move(path: string, into: string): void {
  mkdirSync(into, { recursive: true });
  renameSync(path, join(into, basename(path)));
}

function later(root: string, step: number): string[] {
  if (!existsSync(root)) return [];
  return readdirSync(root)
    .filter((name) => Number(/^step_(\d+)$/.exec(name)?.[1] ?? Number.NaN) > step)
    .map((name) => join(root, name));
}

function dropDangling(link: string): void {
  if (!lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink()) return;
  if (!existsSync(join(link, "..", readlinkSync(link)))) rmSync(link);
}
