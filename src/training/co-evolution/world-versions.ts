/**
 * The worlds of a run, one folder for each that it has learned in: the one it was given stays as it is, wherever it lies.
 *
 *   worlds/step_0     a copy of the world that the configuration names
 *   worlds/step_12    what took its place after training step 12
 *
 * Folders appear whole or not at all. A step that is done again after a resume replaces what it left the first time.
 */
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { UserError } from "#registry";
import { copyWorld } from "#world-training";

export class WorldVersions {
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
  }

  /** Copies the world that was given, unless an earlier start of this run has. */
  begin(given: string): void {
    if (existsSync(this.folder(0))) return;
    mkdirSync(this.#root, { recursive: true });
    const unfinished = join(this.#root, ".step_0.tmp");
    rmSync(unfinished, { recursive: true, force: true });
    copyWorld(given, unfinished);
    renameSync(unfinished, this.folder(0));
  }

  folder(version: number): string {
    return join(this.#root, `step_${version}`);
  }

  /** Where a candidate for the next version is made. */
  get candidate(): string {
    return join(this.#root, ".candidate.tmp");
  }

  adopt(version: number): void {
    const folder = this.folder(version);
    rmSync(folder, { recursive: true, force: true });
    renameSync(this.candidate, folder);
  }

  refuse(): void {
    rmSync(this.candidate, { recursive: true, force: true });
  }

  /** A checkpoint names the world it was learning in; without that world the run cannot go on as it was. */
  require(version: number): string {
    const folder = this.folder(version);
    if (existsSync(folder)) return folder;
    throw new UserError(
      `the checkpoint was learning in ${folder}, which is gone: resume from an older checkpoint, or begin a new run from its weights`,
    );
  }
}
