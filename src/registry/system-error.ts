/**
 * What the operating system refuses and the reader can mend, in words: a full disk, a folder without permission.
 *
 * Such an error may come out of any call that touches a file; whoever reports errors asks here, so that no caller needs
 * to foresee a full disk.
 */
import { UserError } from "./user-error.ts";
import { WorkerLost } from "./worker.ts";

const words: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full; make room or write elsewhere",
  EDQUOT: "the disk quota is used up; make room or write elsewhere",
  EACCES: "no permission",
  EPERM: "not permitted",
  EROFS: "the file system is read-only; write elsewhere",
  ENOTDIR: "a part of this path is a file, not a folder",
  EEXIST: "there is a file where a folder is needed",
  ENAMETOOLONG: "the name is too long",
  EMFILE: "too many files are open; raise the limit (ulimit -n)",
  ENFILE: "too many files are open on this machine",
};

/** Why the system refused, if it is one of those reasons. */
export function systemRefusal(error: unknown): string | undefined {
  const code = (error as NodeJS.ErrnoException | null)?.code;
  return typeof code === "string" && Object.hasOwn(words, code) ? words[code] : undefined;
}

/** libtorch's words for memory that is not there, on the host and on an accelerator. */
const noMemory =
  /can't allocate memory: you tried to allocate (\d+) bytes|CUDA out of memory. Tried to allocate ([\d.]+ \w+)/;

function memoryRefusal(error: unknown): UserError | undefined {
  const [, bytes, words] = noMemory.exec(error instanceof Error ? error.message : "") ?? [];
  if (bytes === undefined && words === undefined) return undefined;
  const amount = words ?? `${(Number(bytes) / 1e9).toFixed(1)} GB`;
  const where = words === undefined ? "memory" : "memory on the accelerator";
  return new UserError(
    `not enough ${where}: ${amount} were asked for at once; use a smaller model, fewer environments or a smaller micro_batch_size`,
  );
}

/** The error as one that the user can fix, if it is one. */
export function asUserError(error: unknown): UserError | undefined {
  if (error instanceof UserError) return error;
  if (error instanceof WorkerLost && error.hung) return new UserError(error.message, { cause: error });
  const memory = memoryRefusal(error);
  if (memory) return memory;
  const reason = systemRefusal(error);
  if (reason === undefined) return undefined;
  const { path, syscall } = error as NodeJS.ErrnoException;
  return new UserError(`${path ?? `a ${syscall ?? "file operation"} failed`}: ${reason}`);
}
