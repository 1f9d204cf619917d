/**
 * Named sets of things that can be looked up, extended by plugins, and never silently replaced.
 *
 * A `Catalog` holds the things themselves; a `Registry` loads them when they are asked for, so that a run pays only for
 * the families it uses.
 */
import { nearest } from "./nearest.ts";
import { UserError } from "./user-error.ts";

/** Who registers now: a plugin's file while it is read, else the program itself. */
let registrant = "reverie";

/** What is registered meanwhile belongs to `name`. Plugins are read one after another. */
export async function registerAs<T>(name: string, work: () => Promise<T>): Promise<T> {
  const before = registrant;
  registrant = name;
  try {
    return await work();
  } finally {
    registrant = before;
  }
}

export class Catalog<T> {
  readonly #kind: string;
  readonly #derived: () => Readonly<Record<string, T>>;
  readonly #entries: Map<string, { readonly entry: T; readonly by: string }>;

  /** `derived`: entries that are made of another catalog's, also of those that are registered there later. */
  constructor(
    kind: string,
    builtin: Readonly<Record<string, T>> = {},
    derived: () => Readonly<Record<string, T>> = () => ({}),
  ) {
    this.#kind = kind;
    this.#derived = derived;
    this.#entries = new Map(
      Object.entries(builtin).map(([name, entry]) => [name, { entry, by: "reverie" }] as const),
    );
  }

  register(name: string, entry: T): void {
    this.requireFree(name);
    this.#entries.set(name, { entry, by: registrant });
  }

  /** Refuses a name that is taken, with who has it. */
  requireFree(name: string): void {
    if (this.has(name)) {
      const by = this.#entries.get(name)?.by ?? "reverie";
      throw new UserError(
        `a ${this.#kind} named "${name}" is already registered by ${by}; choose another name`,
      );
    }
  }

  has(name: string): boolean {
    return this.#all().has(name);
  }

  /** The entry of this name, or a UserError that says which there are. */
  find(name: string): T {
    const all = this.#all();
    if (all.has(name)) return all.get(name)!;
    const guess = nearest(name, this.names());
    throw new UserError(
      `no ${this.#kind} named "${name}"; there are: ${this.names().join(", ")}` +
        `${guess === undefined ? "" : `; did you mean ${guess}?`}`,
    );
  }

  names(): string[] {
    return [...this.#all().keys()].sort();
  }

  /** In the order in which they were registered. */
  entries(): (readonly [name: string, entry: T])[] {
    return [...this.#all()];
  }

  #all(): Map<string, T> {
    const own = [...this.#entries].map(([name, { entry }]) => [name, entry] as const);
    return new Map([...Object.entries(this.#derived()), ...own]);
  }
}

export class Registry<T> extends Catalog<() => Promise<T>> {
  async get(name: string): Promise<T> {
    return this.find(name)();
  }
}
