/**
 * A run's own folder: nobody else's while it runs, and one lineage in it.
 *
 * `hold` is quick and comes before anything is shown or started; `RunFolder.open` decides where the run begins; `begin` then writes
 * `run.json` and keeps apart what does not belong to the run any more. `requireOurs` is asked at every step: people remove folders.
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import type { CheckedConfig } from "#config";
import { FileLock, type Holder, holderText, isThisProcess, makeFolder } from "#formats";
import { cutMetrics, metricsFile } from "#metrics";
import { asUserError, loadedPlugins, UserError } from "#registry";
import type { RunIdentity } from "../checkpoint/content.ts";
import { pointLatest } from "../checkpoint/folder.ts";
import { abandonedFolder, copyRecords, moveAside } from "./abandoned.ts";
import { modelFingerprint } from "./model-fingerprint.ts";
import { placesOf } from "./places.ts";
import { writeRunFile } from "./run-file.ts";
import { changeText, compareSettings, settingsOf } from "./settings-changes.ts";
import { namesOf, requireUnused, type StartingPoint, startingPoint } from "./starting-point.ts";

/** Takes the folder for this process; undefined where this process has it already. `name`: of a part of the folder that is taken by itself. */
export function holdFolder(folder: string, what: string, name = "run"): FileLock | undefined {
  makeFolder(folder);
  const path = join(folder, `.${name}.lock`);
  const taken = takeLock(path, what, folder);
  if (taken instanceof FileLock) return taken;
  if (isThisProcess(taken)) return undefined;
  throw new UserError(occupiedText(folder, taken, path));
}

function takeLock(path: string, what: string, folder: string): FileLock | Holder {
  try {
    return FileLock.take(path, what);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === undefined) throw error;
    const reason = asUserError(error)?.message ?? `the system says ${code}`;
    throw new UserError(`nothing can be written into ${folder}: ${reason}`);
  }
}

const occupiedText = (folder: string, holder: Holder, path: string): string =>
  `${folder} is in use by ${holderText(holder)}: two runs in one folder would overwrite each other\n` +
  "  give another --out, or stop that one first\n" +
  `  if it runs no more and its machine cannot be asked, remove ${path}`;

const holdRun = (checked: CheckedConfig): FileLock | undefined =>
  holdFolder(placesOf(checked).folder, `a run of ${checked.name}`);

/** Before anything is shown or started: the folder is ours, and a new run is not put into a used one. */
export function holdRunFolder(checked: CheckedConfig): FileLock | undefined {
  const { folder } = placesOf(checked);
  const lock = holdRun(checked);
  try {
    if (statSync(metricsFile(folder), { throwIfNoEntry: false })?.isDirectory())
      throw new UserError(
        `${metricsFile(folder)} is a folder, and the run's numbers go into a file of that name: move it away`,
      );
    if ((checked.config.runner.resume_dir ?? null) === null) requireUnused(checked);
    return lock;
  } catch (error) {
    lock?.release();
    throw error;
  }
}

export class RunFolder {
  readonly start: StartingPoint;
  readonly #checked: CheckedConfig;
  readonly #say: (line: string) => void;
  readonly #identity: Omit<RunIdentity, "run">;
  #lock: FileLock | undefined;

  static open(checked: CheckedConfig, say: (line: string) => void): RunFolder {
    const lock = holdRunFolder(checked);
    try {
      return new RunFolder(checked, say, lock);
    } catch (error) {
      lock?.release();
      throw error;
    }
  }

  private constructor(checked: CheckedConfig, say: (line: string) => void, lock: FileLock | undefined) {
    this.#checked = checked;
    this.#say = say;
    this.#lock = lock;
    const { model_path: path } = checked.config.actor.model;
    const fingerprint = path ? modelFingerprint(path) : undefined;
    this.#identity = {
      settings: settingsOf(checked.config),
      ...(path && fingerprint && { base: { path, fingerprint } }),
    };
    this.start = startingPoint(checked, say);
    this.#compareSettings();
  }

  /** What a checkpoint after the one of `parent` steps says. */
  identity(parent: number): RunIdentity {
    return { ...this.#identity, run: { lineage: this.start.lineage, parent } };
  }

  /** The run begins: from here on the folder holds its lineage and nothing else. */
  begin(): void {
    const { lineage, left, isReturn, beganFrom, from } = this.start;
    const places = placesOf(this.#checked);
    const step = from?.state.step ?? 0;
    const apart = isReturn || left.length > 0 ? abandonedFolder(places, step) : undefined;
    if (apart !== undefined) copyRecords(places, apart);
    writeRunFile(places.folder, {
      format: 1,
      config: this.#checked.name,
      experiment: this.#checked.config.runner.logger.experiment_name,
      lineage,
      ...(beganFrom !== undefined && { began_from: beganFrom }),
      ...(loadedPlugins().length > 0 && { plugins: [...loadedPlugins()] }),
    });
    if (apart === undefined) return;
    moveAside(places, apart, step, left);
    if (isReturn) cutMetrics(metricsFile(places.folder), step);
    if (from && beganFrom === undefined) pointLatest(places.checkpoints, from.folder);
    const what = [
      ...(isReturn ? [`what came after step ${step}`] : []),
      ...(left.length > 0 ? [namesOf(left)] : []),
    ];
    this.#say(`kept apart in ${apart}, and no longer part of this run: ${what.join(", ")}`);
  }

  /** A folder that was removed is made again; one that has another owner now ends this run. */
  requireOurs(): void {
    this.#lock = holdRun(this.#checked) ?? this.#lock;
  }

  close(): void {
    this.#lock?.release();
  }

  #compareSettings(): void {
    const { from } = this.start;
    if (!from) return;
    const { settings, base } = from.state;
    const changes = settings && compareSettings(settings, this.#identity.settings);
    const refused = (changes?.refused ?? []).map(changeText);
    const now = this.#identity.base;
    if (base && now && base.fingerprint !== now.fingerprint)
      refused.push(`the base model: ${base.path} before, ${now.path} now, and it is not the same`);
    if (refused.length > 0)
      throw new UserError(
        `${from.folder} was made with other settings, and a run goes on only with those it began with:\n` +
          `${refused.map((line) => `  ${line}`).join("\n")}\n` +
          `  to go on:  leave them as they were\n` +
          `  to begin a new run from these weights:  reverie train ${this.#checked.name} --model ${from.folder} --out NEW`,
      );
    for (const change of changes?.said ?? [])
      this.#say(`changed since ${from.folder}: ${changeText(change)}`);
  }
}
