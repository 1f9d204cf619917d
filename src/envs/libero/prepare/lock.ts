/** One preparation at a time per folder: others wait for it, and one that died does not count. */
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";

const pollMilliseconds = 200;
/** A lock without a holder's name is one being taken, or one whose holder died between two steps. */
const namelessMilliseconds = 5000;

/** Runs `work` while holding the folder's lock. */
export async function withLock<T>(
  folder: string,
  work: () => Promise<T>,
  say: (line: string) => void,
): Promise<T> {
  const lock = join(folder, ".preparing");
  mkdirSync(folder, { recursive: true });
  for (let waited = false; !take(lock); waited = true) {
    if (!waited) say("waiting for another process that prepares the same folder");
    await new Promise((resume) => setTimeout(resume, pollMilliseconds));
  }
  try {
    return await work();
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}

/** Making a folder is atomic: it either is ours or exists already. */
function take(lock: string): boolean {
  try {
    mkdirSync(lock);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    if (isStale(lock)) rmSync(lock, { recursive: true, force: true });
    return false;
  }
  writeFileSync(join(lock, "holder"), `${process.pid} ${hostname()}`);
  return true;
}

function isStale(lock: string): boolean {
  try {
    const [pid = "", host] = readFileSync(join(lock, "holder"), "utf8").split(" ");
    return host === hostname() && !isAlive(Number(pid));
  } catch {
    const age = Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    return age > namelessMilliseconds;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
