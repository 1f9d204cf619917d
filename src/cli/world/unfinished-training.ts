/**
 * What an interrupted training of a world's part left, `<part>.resume.safetensors`: hours of work that a new training must not remove.
 *
 * When the part is finished the file becomes `<part>.finished.safetensors`: a new training may replace that, and `--resume` with more
 * steps goes on from it.
 */
import { existsSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { UserError } from "#registry";

export class UnfinishedTraining {
  readonly path: string;
  readonly #finished: string;
  readonly #part: string;

  constructor(world: string, part: string) {
    this.#part = part;
    this.path = join(world, `${part}.resume.safetensors`);
    this.#finished = join(world, `${part}.finished.safetensors`);
  }

  /** For a training that begins anew. */
  requireNone(): void {
    if (!existsSync(this.path)) return;
    const apart = this.path.replace(/\.resume\./, ".set-aside.");
    throw new UserError(
      `${this.path} is what an unfinished training left, and a new one would replace it\n` +
        `  to go on with that training:  the same reverie world ${this.#part} command, and --resume\n` +
        `  to begin anew and keep it:    mv ${this.path} ${apart}`,
    );
  }

  /** For a training that goes on. */
  takeUp(say: (line: string) => void): void {
    if (existsSync(this.path)) return;
    if (existsSync(this.#finished)) renameSync(this.#finished, this.path);
    else say("there is nothing to go on from yet: the training begins at step 0");
  }

  /** For a training that has nothing to do with what a finished one left. */
  forgetFinished(): void {
    rmSync(this.#finished, { force: true });
  }

  /** The part is written. */
  finish(): void {
    if (existsSync(this.path)) renameSync(this.path, this.#finished);
  }
}
