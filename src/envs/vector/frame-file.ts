/**
 * Pictures between a worker process and its parent, through a file in memory instead of the message channel.
 *
 * A channel serialises and copies bytes several times, on the one thread that also feeds the policy; here they are written
 * once and read once. The file loses its name as soon as it is open, and the worker inherits it open, so nothing is left
 * behind by a process that dies. A picture that does not fit (a small /dev/shm) travels in the message after all.
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
import type { ChunkSight, Sight } from "#simulators";

/** Where in the file a picture lies. */
interface Parcel {
  readonly at: number;
  readonly length: number;
}

type Carried = Uint8Array | Parcel;
type Packed = Omit<ChunkSight, "main" | "wrist" | "film"> & {
  readonly main: Carried;
  readonly wrist?: Carried | undefined;
  readonly film?: readonly Carried[] | undefined;
};

/** The descriptor under which a worker inherits its file: after stdin, stdout, stderr and the message channel. */
export const inheritedDescriptor = 4;

const folder = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();
const named = /^reverie-frames-(\d+)-/;

/** The parent's end; a worker inherits `descriptor`. */
export class FrameFile {
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

  /** Puts the pictures back into a worker's answer: views, valid until the next answer is unpacked. */
  unpack(sights: readonly unknown[]): (Sight | ChunkSight)[] {
    const packed = sights as readonly Packed[];
    this.#load(
      Math.max(
        0,
        ...packed.flatMap(carriedBy).map((one) => (one instanceof Uint8Array ? 0 : one.at + one.length)),
      ),
    );
    return packed.map((sight) => ({
      ...sight,
      main: this.#open(sight.main),
      wrist: sight.wrist && this.#open(sight.wrist),
      film: sight.film?.map((picture) => this.#open(picture)),
    }));
  }

  #load(end: number): void {
    if (this.#content.length < end) this.#content = new Uint8Array(end);
    for (let done = 0; done < end; ) {
      const count = readSync(this.descriptor, this.#content, done, end - done, done);
      if (count === 0) throw new Error("internal: the frame file is shorter than a worker said");
      done += count;
    }
  }

  #open(carried: Carried): Uint8Array {
    if (carried instanceof Uint8Array) return carried;
    return this.#content.subarray(carried.at, carried.at + carried.length);
  }
}

const carriedBy = ({ main, wrist, film = [] }: Packed): Carried[] => [
  main,
  ...(wrist ? [wrist] : []),
  ...film,
];

/** Names that processes left which were killed between two instructions; those of processes that live are theirs. */
function sweep(): void {
  for (const name of readdirSync(folder)) {
    const [, pid] = named.exec(name) ?? [];
    if (pid !== undefined && !existsSync(`/proc/${pid}`)) rmSync(join(folder, name), { force: true });
  }
}

/** The worker's end. */
export class FrameSender {
  readonly #descriptor = inheritedDescriptor;
  #end = 0;

  /** Moves the pictures of an answer into the file, over those of the last answer. */
  pack(sights: readonly Sight[]): Packed[] {
    this.#end = 0;
    return (sights as readonly ChunkSight[]).map((sight) => ({
      ...sight,
      main: this.#write(sight.main),
      wrist: sight.wrist && this.#write(sight.wrist),
      film: sight.film?.map((picture) => this.#write(picture)),
    }));
  }

  #write(bytes: Uint8Array): Carried {
    const at = this.#end;
    try {
      for (let done = 0; done < bytes.length; )
        done += writeSync(this.#descriptor, bytes, done, bytes.length - done, at + done);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
      ftruncateSync(this.#descriptor, at);
      return bytes;
    }
    this.#end += bytes.length;
    return { at, length: bytes.length };
  }
}
