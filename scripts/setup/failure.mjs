/**
 * A reason why set-up cannot go on that the reader can mend; printed without a stack.
 *
 * Its message says what was found, what was expected and which command helps.
 */
export class SetupFailure extends Error {
  name = "SetupFailure";
}
