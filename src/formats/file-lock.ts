/**
 * One owner at a time: a lock file that names its holder and does not outlive it.
 *
 * The file appears whole (a hard link to a finished one), and holds the process's number, the time it was started, its machine and that
 * machine's boot. A holder that was killed, whose number went to another process, or whose machine was started again is recognized; one on
 * another machine cannot be asked and counts as alive. Who takes the place of a dead holder first makes `<lock>.after-<its token>`: one
 * name that only one process can make, so that two who find the same dead holder do not both believe to have the lock.
 */
import { randomUUID } from "node:crypto";
import { linkSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { z } from "zod";
import { temporaryName } from "./atomic-write.ts";

const holderSchema = z.object({
  token: z.string(),
  pid: z.int().positive(),
  started: z.string().nullable().describe("in the kernel's ticks since boot; null where that is not known"),
  boot: z.string().nullable(),
  host: z.string(),
  what: z.string(),
  since: z.string(),
});
export type Holder = z.infer<typeof holderSchema>;

/** A lock file that is no lock is one that a power cut emptied, or one being written where there are no hard links. */
const illegibleMilliseconds = 5000;

export class FileLock {
  readonly path: string;
  readonly #own: Holder;
  readonly #release = (): void => this.release();
  #held = true;

  private constructor(path: string, own: Holder) {
    this.path = path;
    this.#own = own;
    process.once("exit", this.#release);
  }

  /** The lock, or who has it. `what` is told to others who want it. */
  static take(path: string, what: string): FileLock | Holder {
    const own = ourselves(what);
    for (;;) {
      if (create(path, own)) return new FileLock(path, own);
      const found = readHolder(path);
      if (found?.token === own.token) return new FileLock(path, own);
      if (found === undefined) continue; // released since
      if (isAlive(found)) return found;
      const rival = inherit(path, found, own);
      if (rival) return rival;
    }
  }

  release(): void {
    if (!this.#held) return;
    this.#held = false;
    process.off("exit", this.#release);
    if (readHolder(this.path)?.token === this.#own.token) rmSync(this.path, { force: true });
  }
}

/** Puts our lock in the place of a dead holder's, or gives who is doing so. The caller looks whether it is ours then. */
function inherit(path: string, dead: Holder, own: Holder): Holder | undefined {
  const heir = `${path}.after-${dead.token}`;
  if (!create(heir, own)) {
    const rival = readHolder(heir);
    if (rival && isAlive(rival)) return rival;
    rmSync(heir, { force: true }); // it died before it took the dead one's place
    return undefined;
  }
  const isStill = readHolder(path)?.token === dead.token;
  try {
    if (isStill) renameSync(heir, path);
    else rmSync(heir, { force: true }); // another was faster, and is done
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  return undefined;
}

/** Whether the holder is this very process. */
export const isThisProcess = (holder: Holder): boolean => {
  const own = ourselves("");
  return (["pid", "started", "boot", "host"] as const).every((key) => holder[key] === own[key]);
};

/** Who it is, for a person who wants to find it. */
export const holderText = ({ pid, host, what, since }: Holder): string =>
  `${what} (process ${pid} on ${host}, since ${since})`;

const ourselves = (what: string): Holder => ({
  token: randomUUID(),
  pid: process.pid,
  started: startOf(process.pid)?.started ?? null,
  boot: bootId(),
  host: hostname(),
  what,
  since: new Date().toISOString().replace(/\.\d+Z$/, "Z"),
});

/** False where there is such a file already. */
function create(path: string, holder: Holder): boolean {
  const text = `${JSON.stringify(holder, null, 2)}\n`;
  const temporary = temporaryName(path);
  writeFileSync(temporary, text, { flag: "wx" });
  try {
    linkSync(temporary, path);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return false;
    return createPlainly(path, text);
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** Where the file system knows no hard links. */
function createPlainly(path: string, text: string): boolean {
  try {
    writeFileSync(path, text, { flag: "wx" });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** Undefined when there is no lock. */
function readHolder(path: string): Holder | undefined {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  const parsed = holderSchema.safeParse(parsedJson(text));
  return parsed.success ? parsed.data : illegibleHolder(path);
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Of another machine while it is young, so that it counts as alive; of process 0 afterwards. */
function illegibleHolder(path: string): Holder | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found) return undefined;
  const young = Date.now() - found.mtimeMs < illegibleMilliseconds;
  return {
    token: `illegible-${found.ino}`,
    pid: 0,
    started: null,
    boot: bootId(),
    host: young ? "an unknown machine" : hostname(),
    what: "someone who is about to write the lock",
    since: found.mtime.toISOString(),
  };
}

function isAlive({ pid, started, boot, host }: Holder): boolean {
  if (host !== hostname()) return true;
  if (pid === 0 || (boot !== null && boot !== bootId())) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EPERM") return false;
  }
  const now = startOf(pid);
  if (!now) return true; // there is no /proc to ask
  return !now.ended && (started === null || now.started === started);
}

/** When a process was started, and whether it has ended but was not yet collected by its parent. */
function startOf(pid: number): { readonly started: string; readonly ended: boolean } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" "); // from the third on: the second may hold spaces
    return { started: fields[19] ?? "", ended: /^[ZX]/.test(fields[0] ?? "") };
  } catch {
    return undefined;
  }
}

function bootId(): string | null {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return null;
  }
}
