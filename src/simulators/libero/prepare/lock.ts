/** One preparation at a time per folder: others wait for it, and one that died does not count. */
import { join } from "node:path";
import { FileLock, holderText, makeFolder } from "#formats";

const pollMilliseconds = 200;

/** Runs `work` while holding the folder's lock. */
export async function withLock<T>(
  folder: string,
  work: () => Promise<T>,
  say: (line: string) => void,
): Promise<T> {
  makeFolder(folder);
  const take = () => FileLock.take(join(folder, ".preparing.lock"), "a preparation of LIBERO's files");
  let lock = take();
  if (!(lock instanceof FileLock)) say(`waiting for ${holderText(lock)}, which prepares the same folder`);
  for (; !(lock instanceof FileLock); lock = take())
    await new Promise((resume) => setTimeout(resume, pollMilliseconds));
  try {
    return await work();
  } finally {
    lock.release();
  }
}
