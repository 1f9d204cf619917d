/**
 * An error that the reader can fix: a wrong path, a bad setting, a damaged file.
 *
 * It says what was found, what was expected and what to do next. The command line prints it without a
 * stack and exits with code 2; every other error is a bug of ours and keeps its stack.
 */
export class UserError extends Error {
  override name = "UserError";
}
