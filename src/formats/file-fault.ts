/**
 * How every reader in this room says that a file cannot be used: the file, its kind, and the reason.
 *
 * A reader makes one `Fault` when it opens a file and hands it down to whatever parses the bytes, so that
 * no parser needs to know where its bytes came from and no message lacks the file's name.
 */
import { systemRefusal, UserError } from "#registry";

/** Makes, to be thrown, the UserError that names the file and says why it cannot be read. */
export type Fault = (reason: string) => UserError;

export const fileFault =
  (path: string, kind: string): Fault =>
  (reason) =>
    new UserError(`${path}: not a readable ${kind}: ${reason}`);

/** The reason in words when the operating system refuses a file. */
export function describeSystemError(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === "ENOENT") return "there is no such file; check the path";
  if (code === "EISDIR") return "it is a folder; give the path of a file inside it";
  return systemRefusal(error) ?? (error instanceof Error ? error.message : String(error));
}
