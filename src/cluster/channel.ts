/**
 * How workers hand each other work: a queue per key, first in, first out.
 *
 * Workers know only this interface. Within one process it is a list; between machines it can be a socket with acknowledgements, and
 * no worker changes. Closing with an error passes the error on to whoever waits, so that a failure on one side ends the other
 * instead of leaving it waiting for ever.
 */
export interface Channel<T> {
  send(key: string, item: T): Promise<void>;
  /** The next item, or undefined once the channel is closed and empty. */
  receive(key: string): Promise<T | undefined>;
  close(error?: unknown): void;
}

interface Waiter<T> {
  readonly resolve: (item: T | undefined) => void;
  readonly reject: (error: unknown) => void;
}

export class LocalChannel<T> implements Channel<T> {
  readonly #items = new Map<string, T[]>();
  readonly #waiters = new Map<string, Waiter<T>[]>();
  #closed: { readonly error: unknown } | undefined;

  async send(key: string, item: T): Promise<void> {
    if (this.#closed) throw this.#closed.error ?? new Error("internal: sent into a closed channel");
    const waiter = this.#waiters.get(key)?.shift();
    if (waiter) waiter.resolve(item);
    else listAt(this.#items, key).push(item);
  }

  receive(key: string): Promise<T | undefined> {
    const items = this.#items.get(key);
    if (items && items.length > 0) return Promise.resolve(items.shift());
    if (this.#closed?.error !== undefined) return Promise.reject(this.#closed.error);
    if (this.#closed) return Promise.resolve(undefined);
    return new Promise((resolve, reject) => listAt(this.#waiters, key).push({ resolve, reject }));
  }

  close(error?: unknown): void {
    this.#closed ??= { error };
    for (const { resolve, reject } of [...this.#waiters.values()].flat()) {
      if (error === undefined) resolve(undefined);
      else reject(error);
    }
    this.#waiters.clear();
  }
}

function listAt<V>(lists: Map<string, V[]>, key: string): V[] {
  const known = lists.get(key);
  if (known) return known;
  const made: V[] = [];
  lists.set(key, made);
  return made;
}
