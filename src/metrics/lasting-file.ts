/**
 * A file that is added to for days, in a folder that someone may remove meanwhile.
 *
 * What is removed while it is open is still there: before every addition the open file is compared with what has its name, and if they are
 * not one and the same, all that it held is written again under that name.
 */
import {
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";

export interface LastingOptions {
  /** Refuse a name that is taken. */
  readonly fresh?: boolean;
  readonly warn?: ((text: string) => void) | undefined;
}

export class LastingFile {
  readonly path: string;
  readonly #warn: (text: string) => void;
  #descriptor: number;
  #closed = false;

  constructor(path: string, { fresh = false, warn = () => {} }: LastingOptions = {}) {
    mkdirSync(dirname(path), { recursive: true });
    this.path = path;
    this.#warn = warn;
    this.#descriptor = openSync(path, fresh ? "ax+" : "a+");
  }

  append(content: string | Uint8Array): void {
    this.#requireName();
    writeSync(this.#descriptor, Buffer.from(content as Uint8Array));
  }

  close(): void {
    if (!this.#closed) closeSync(this.#descriptor);
    this.#closed = true;
  }

  #requireName(): void {
    const [open, named] = [fstatSync(this.#descriptor), statSync(this.path, { throwIfNoEntry: false })];
    if (named && named.ino === open.ino && named.dev === open.dev) return;
    const bytes = Buffer.alloc(open.size);
    const count = readSync(this.#descriptor, bytes, 0, bytes.length, 0);
    mkdirSync(dirname(this.path), { recursive: true });
    if (named) renameSync(this.path, `${this.path}.${Date.now()}.stranger`);
    const again = openSync(this.path, "ax+");
    writeSync(again, bytes, 0, count);
    closeSync(this.#descriptor);
    this.#descriptor = again;
    this.#warn(
      `${this.path} was removed or replaced while the run wrote to it: all that it held is written again`,
    );
  }
}
