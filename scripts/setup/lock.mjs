/**
 * Lets one set-up work at a time in a checkout.
 *
 * The lock is a file that names its holder by process id and start time, so that a lock left by a killed
 * set-up, even when its id has been given to another program since, is seen as stale and taken over.
 */
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { deps } from "./folders.mjs";

const path = join(deps, "setup.lock");

/** Waits until no other set-up works here; returns the function that gives the lock back. */
export async function takeLock(progress) {
  mkdirSync(deps, { recursive: true });
  for (let waited = 0; ; waited += 0.2) {
    if (tryToTake()) return () => rmSync(path, { force: true });
    const holder = readHolder();
    if (!isAlive(holder)) removeStale();
    else if (waited === 0) progress.note(`… waiting for another set-up (process ${holder.pid}) to end`);
    await sleep(200);
  }
}

/** The file appears whole or not at all: it is written aside and linked into place. */
function tryToTake() {
  const aside = `${path}.new-${process.pid}`;
  writeFileSync(aside, JSON.stringify({ pid: process.pid, started: startTime(process.pid) }));
  try {
    linkSync(aside, path);
    return true;
  } catch (error) {
    if (error.code === "EEXIST") return false;
    throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

function readHolder() {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return {}; // gone meanwhile, or cut off by a full disk: stale either way
  }
}

const isAlive = ({ pid, started }) => started !== undefined && startTime(pid) === started;

/** When a process began, in clock ticks since boot (field 22 of /proc/pid/stat); undefined when it is gone. */
function startTime(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
  } catch {
    return undefined;
  }
}

/** Renames before it removes, so that of two waiting set-ups only one clears the stale lock. */
function removeStale() {
  const aside = `${path}.${process.pid}`;
  try {
    renameSync(path, aside);
    rmSync(aside, { force: true });
  } catch (error) {
    if (error.code !== "ENOENT") throw error;
  }
}
