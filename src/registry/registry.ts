/**
 * A named set of things that can be looked up, extended by plugins, and never silently replaced.
 *
 * Entries load lazily, so that a run pays only for the families it uses.
 */
import { nearest } from "./nearest.ts";
import { UserError } from "./user-error.ts";

export class Registry<T> {
  readonly #kind: string;
  readonly #entries: Map<string, () => Promise<T>>;

  constructor(kind: string, builtin: Record<string, () => Promise<T>> = {}) {
    this.#kind = kind;
    this.#entries = new Map(Object.entries(builtin));
  }

  register(name: string, load: () => Promise<T>): void {
    if (this.#entries.has(name)) {
      throw new UserError(`a ${this.#kind} named "${name}" is already registered; choose another name`);
    }
    this.#entries.set(name, load);
  }

  has(name: string): boolean {
    return this.#entries.has(name);
  }

  async get(name: string): Promise<T> {
    const load = this.#entries.get(name);
    if (load) return load();
    const guess = nearest(name, this.names());
    throw new UserError(
      `no ${this.#kind} named "${name}"; there are: ${this.names().join(", ")}` +
        `${guess === undefined ? "" : `; did you mean ${guess}?`}`,
    );
  }

  names(): string[] {
    return [...this.#entries.keys()].sort();
  }
}
