/**
 * Giving up work that is under way because the run was told to stop.
 *
 * Nobody waits for such work to end: a worker in it may hang. It goes on unheard until it asks for something, or until its workers are closed.
 */
export class Abandoned extends Error {
  override name = "Abandoned";

  constructor() {
    super("the run was told to stop");
  }
}

/** The work's value, or what the signal was raised with as soon as that happens. */
export function abandonable<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work;
  work.catch(() => {}); // unheard once abandoned
  return new Promise((resolve, reject) => {
    const abandon = (): void => reject(signal.reason);
    if (signal.aborted) return abandon();
    signal.addEventListener("abort", abandon, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abandon));
  });
}
