/**
 * Byte arrays between a worker process and its caller, such as pictures, through a file in memory instead of the message channel.
 *
 * A channel serializes and copies bytes several times, on the one thread that also feeds the policy; here they are written
 * once and read once. The file loses its name as soon as it is open, and the worker inherits it open, so nothing is left
 * behind by a process that dies. An array that does not fit (a small /dev/shm) travels in the message after all.
 */
import { randomUUID } from "node:crypto";
import {
  closeSync,
  existsSync,
  ftruncateSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mapInside } from "./tensor-message.ts";

/** Where in the file an array lies. */
interface Parcel {
  readonly [key]: number;
  readonly length: number;
}
const key = "__lent_bytes__";

/** What is sent in place of an answer: `end` says how much of the file it needs. */
interface Packed {
  readonly end: number;
  readonly value: unknown;
}

/** The descriptor under which a worker inherits its file: after stdin, stdout, stderr and the message channel. */
const inheritedDescriptor = 4;
/** Bytes from which on an array goes through the file. */
const large = 1024;

const folder = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();
const named = /^reverie-frames-(\d+)-/;

/** The caller's end; a worker inherits `descriptor`. */
export class BorrowedBytes {
  readonly descriptor: number;
  /** The file's content as of the last answer. */
  #content = new Uint8Array(0);

  constructor() {
    sweep();
    const path = join(folder, `reverie-frames-${process.pid}-${randomUUID()}`);
    this.descriptor = openSync(path, "wx+", 0o600);
    rmSync(path);
  }

  close(): void {
    closeSync(this.descriptor);
  }

  /** Puts the arrays back into a worker's answer: views, valid until the next answer is unpacked. */
  unpack(answer: unknown): unknown {
    const { end, value } = answer as Packed;
    this.#load(end);
    return this.#open(value);
  }

  #open = (value: unknown): unknown => {
    if (!isParcel(value)) return mapInside(value, this.#open);
    return this.#content.subarray(value[key], value[key] + value.length);
  };

  #load(end: number): void {
    if (this.#content.length < end) this.#content = new Uint8Array(end);
    for (let done = 0; done < end; ) {
      const count = readSync(this.descriptor, this.#content, done, end - done, done);
      if (count === 0) throw new Error("internal: the file of lent bytes is shorter than a worker said");
      done += count;
    }
  }
}

const isParcel = (value: unknown): value is Parcel =>
  typeof value === "object" && value !== null && key in value;

/** Names that processes left which were killed between two instructions; those of processes that live are theirs. */
function sweep(): void {
  for (const name of readdirSync(folder)) {
    const [, pid] = named.exec(name) ?? [];
    if (pid !== undefined && !existsSync(`/proc/${pid}`)) rmSync(join(folder, name), { force: true });
  }
}

/** The worker's end. */
export class LentBytes {
  #end = 0;

  /** Moves the large arrays of an answer into the file, over those of the last answer. */
  pack(answer: unknown): Packed {
    this.#end = 0;
    const value = this.#close(answer);
    return { end: this.#end, value };
  }

  #close = (value: unknown): unknown =>
    value instanceof Uint8Array && value.length >= large ? this.#write(value) : mapInside(value, this.#close);

  #write(bytes: Uint8Array): Uint8Array | Parcel {
    const at = this.#end;
    try {
      for (let done = 0; done < bytes.length; )
        done += writeSync(inheritedDescriptor, bytes, done, bytes.length - done, at + done);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
      ftruncateSync(inheritedDescriptor, at);
      return bytes;
    }
    this.#end += bytes.length;
    return { [key]: at, length: bytes.length };
  }
}
