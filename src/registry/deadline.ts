/**
 * Waiting with a deadline: whoever waits says for whom, so that a hang is an error that names its cause instead of silence.
 */
import { UserError } from "./user-error.ts";

/** Somebody did not answer in time. */
export class Late extends UserError {
  override name = "Late";
}

/** The promise's value; after `seconds` without one, `Late` with `message`. The work itself is not ended: its owner does that. */
export function within<T>(promise: Promise<T>, seconds: number, message: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Late(`${message}, within ${seconds} s`)), 1000 * seconds);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
