/**
 * A reason why set-up cannot go on that the reader can mend; printed without a stack.
 *
 * Its message says what was found, what was expected and which command helps.
 */
export class SetupFailure extends Error {
  name = "SetupFailure";
}

/** A downloaded file that is not the one whose hash is pinned: nothing else may be tried in its place. */
export class WheelRefused extends SetupFailure {
  name = "WheelRefused";
}
