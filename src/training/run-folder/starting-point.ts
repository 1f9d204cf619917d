/**
 * Where a run begins, and whether it may: at step 0, at the newest whole checkpoint of its lineage (`--resume`), or at one that was named.
 *
 * Only looks; nothing is written or moved here. What does not belong together is refused with the command that does what was meant.
 */
import { existsSync, readdirSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { CheckedConfig } from "#config";
import { counted, metricsFile, readMetricsFile } from "#metrics";
import { UserError } from "#registry";
import { type CheckpointState, readState } from "../checkpoint/content.ts";
import { latestOf, listCheckpoints, type Saved, writtenAt } from "../checkpoint/folder.ts";
import {
  branchFrom,
  branchOf,
  isOn,
  type Lineage,
  lineageOf,
  type Marked,
  newLineage,
} from "../checkpoint/lineage.ts";
import { findDamage } from "../checkpoint/manifest.ts";
import type { RunPlaces } from "./abandoned.ts";
import { placesOf } from "./places.ts";
import { type RunFile, readRunFile } from "./run-file.ts";

export interface StartingPoint {
  /** Undefined: step 0. */
  readonly from?: { readonly folder: string; readonly state: CheckpointState };
  /** Of the run from now on. */
  readonly lineage: Lineage;
  /** Checkpoints in the run's folder that do not belong to it any more. */
  readonly left: readonly Saved[];
  /** Whether the run goes back behind what it had done. */
  readonly isReturn: boolean;
  /** A checkpoint of another folder. */
  readonly beganFrom?: string;
}

export const goOnCommand = ({ name, config }: CheckedConfig): string =>
  `reverie train ${name} --resume --out ${config.runner.logger.log_path}`;

export function startingPoint(checked: CheckedConfig, say: (line: string) => void): StartingPoint {
  const { resume_dir: wanted } = checked.config.runner;
  if (wanted === undefined || wanted === null) {
    requireUnused(checked);
    return { lineage: newLineage(), left: [], isReturn: false };
  }
  const start = wanted === "auto" ? newest(checked, say) : named(checked, wanted);
  const { from } = start;
  say(
    from
      ? `resuming from ${from.folder}: ${counted(from.state.step, "step")} done`
      : "no checkpoint to resume from yet: the run begins at step 0",
  );
  return start;
}

/** The newest whole checkpoint of the run in this folder. */
export const newestCheckpoint = (checked: CheckedConfig, say: (line: string) => void): string | undefined =>
  newest(checked, say).from?.folder;

/** A new run gets a folder of its own. */
export function requireUnused(checked: CheckedConfig): void {
  const places = placesOf(checked);
  const found = contentOf(places);
  if (found === undefined) return;
  throw new UserError(
    `${places.folder} already holds a run (${found}), and a new one would mix with it\n` +
      `  to go on with that run:  ${goOnCommand(checked)}\n` +
      "  to begin a new run:      give another --out (or leave it out: logs/<time>-<config>)",
  );
}

/** What a run has left in a folder, in words. */
function contentOf({ folder }: RunPlaces): string | undefined {
  const steps = toldSteps(folder);
  const saved = checkpointsBelow(folder);
  const parts = [
    ...(steps > 0 ? [`${counted(steps, "step")} in metrics.jsonl`] : []),
    ...(saved.length > 0 ? [`checkpoints ${namesOf(saved)}`] : []),
  ];
  return parts.length > 0 ? parts.join(", ") : undefined;
}

const toldSteps = (folder: string): number =>
  existsSync(metricsFile(folder)) ? readMetricsFile(metricsFile(folder)).length : 0;

/** Of whatever experiment. */
const checkpointsBelow = (folder: string): Saved[] =>
  existsSync(folder)
    ? readdirSync(folder).flatMap((name) => listCheckpoints(join(folder, name, "checkpoints")))
    : [];

/** global_step_2 … global_step_8 */
export const namesOf = (saved: readonly Saved[]): string => {
  const names = saved.map(({ folder }) => basename(folder));
  return names.length > 3 ? `${names[0]} … ${names.at(-1)}` : names.join(", ");
};

function newest(checked: CheckedConfig, say: (line: string) => void): StartingPoint {
  const places = placesOf(checked);
  const file = readRunFile(places.folder);
  const all = listCheckpoints(places.checkpoints);
  if (all.length === 0) return beforeTheFirst(checked, file);
  const lineage = file?.lineage ?? lineageAtTip(places.checkpoints, all);
  const belongs = (saved: Saved): boolean => {
    const mark = markOf(saved.folder);
    return mark === undefined || (isOn(lineage, mark) && !isOlder(places.checkpoints, mark, saved));
  };
  const ours = all.filter(belongs);
  const damaged: [Saved, string][] = [];
  for (const saved of ours.toReversed()) {
    const [fault] = findDamage(saved.folder);
    if (fault === undefined) {
      const state = readState(saved.folder);
      const strange = all.filter((each) => !ours.includes(each));
      const left = [...strange, ...damaged.map(([each]) => each)];
      return {
        from: { folder: saved.folder, state },
        lineage: goingOn(lineage, state),
        left,
        isReturn: false,
      };
    }
    say(`${saved.folder} is damaged (${fault}): an older checkpoint is used`);
    damaged.push([saved, fault]);
  }
  throw nothingWhole(checked, damaged, all);
}

/** The same branch, where there is one and it has begun by then. */
const goingOn = (lineage: Lineage, state: Marked): Lineage =>
  branchOf(lineage) === null || lineage.at(-1)!.from > state.step ? branchFrom(state) : lineage;

/** A run that was ended before its first checkpoint begins again; so does the first of all. */
function beforeTheFirst(checked: CheckedConfig, file: RunFile | undefined): StartingPoint {
  const { folder } = placesOf(checked);
  if (file?.began_from !== undefined) {
    const { folder: from, state } = wholeCheckpoint(file.began_from);
    return {
      from: { folder: from, state },
      lineage: file.lineage,
      left: [],
      isReturn: false,
      beganFrom: from,
    };
  }
  const { experiment_name: experiment } = checked.config.runner.logger;
  const others = checkpointsBelow(folder);
  if ((file && file.experiment !== experiment) || others.length > 0)
    throw new UserError(
      `${folder} holds another run: ${file ? `experiment ${file.experiment} of ${file.config}` : namesOf(others)}, and this one is ${experiment}\n` +
        `  to go on with that run:  reverie train ${file?.config ?? "CONFIG"} --resume --out ${folder}\n` +
        "  to begin a new run:      give another --out",
    );
  return { lineage: file?.lineage ?? newLineage(), left: [], isReturn: false };
}

function nothingWhole(
  { config, name }: CheckedConfig,
  damaged: readonly (readonly [Saved, string])[],
  all: readonly Saved[],
): UserError {
  const faults = damaged.map(([{ folder }, fault]) => `  ${folder}: ${fault}`);
  const strange = all.length - damaged.length;
  const others = strange > 0 ? [`  ${strange} more belong to another run or to a branch that was left`] : [];
  return new UserError(
    `there is no whole checkpoint of this run in ${config.runner.logger.log_path}; nothing was changed\n` +
      `${[...faults, ...others].join("\n")}\n` +
      "  to begin again at step 0:  the same command without --resume and with another --out\n" +
      `  to begin from another checkpoint's weights:  reverie train ${name} --model …/global_step_N --out NEW`,
  );
}

/** Without run.json the checkpoint that was written last says whose they are. */
function lineageAtTip(root: string, all: readonly Saved[]): Lineage {
  const latest = latestOf(root);
  const tip = all.find(({ folder }) => basename(folder) === latest) ?? all.at(-1)!;
  return lineageOf(markOf(tip.folder) ?? { step: tip.step });
}

/** Without identities, a higher number that was written before `latest` is of a branch that was left. */
function isOlder(root: string, mark: Marked, saved: Saved): boolean {
  if (mark.run !== undefined) return false;
  const latest = listCheckpoints(root).find(({ folder }) => basename(folder) === latestOf(root));
  return latest !== undefined && saved.step > latest.step && writtenAt(saved) < writtenAt(latest);
}

function named(checked: CheckedConfig, wanted: string): StartingPoint {
  const places = placesOf(checked);
  const { folder, state } = wholeCheckpoint(wanted);
  const from = { folder, state };
  const inside = existsSync(places.checkpoints) && dirname(folder) === realpathSync(places.checkpoints);
  if (!inside) {
    requireUnused(checked);
    return { from, lineage: branchFrom(state), left: [], isReturn: false, beganFrom: folder };
  }
  const all = listCheckpoints(places.checkpoints);
  const present = readRunFile(places.folder)?.lineage ?? lineageOf(state);
  if (isOn(present, state) && all.every(({ step }) => step <= state.step))
    return { from, lineage: goingOn(present, state), left: [], isReturn: false };
  const lineage = branchFrom(state);
  const belongs = ({ folder: path, step }: Saved): boolean => {
    const mark = markOf(path);
    return step <= state.step && (mark === undefined || isOn(lineage, mark));
  };
  return { from, lineage, left: all.filter((saved) => !belongs(saved)), isReturn: true };
}

function wholeCheckpoint(path: string): { readonly folder: string; readonly state: CheckpointState } {
  const folder = existsSync(path) ? realpathSync(path) : path;
  const faults = findDamage(folder);
  if (faults.length === 0) return { folder, state: readState(folder) };
  throw new UserError(`${folder} cannot be resumed from:\n${faults.map((fault) => `  ${fault}`).join("\n")}`);
}

/** Whose a checkpoint is; undefined where its state cannot be read. */
function markOf(folder: string): Marked | undefined {
  try {
    return readState(folder);
  } catch (error) {
    if (error instanceof UserError) return undefined;
    throw error;
  }
}
