/**
 * What a pickle may contain once it is read: plain data, and nothing that can act.
 *
 * Python's dict is a Map, list and tuple are arrays, set is a Set, bytes is a Uint8Array, int is a number
 * while it is exact and a bigint beyond. A class or function named in a pickle becomes a `Constructor` from
 * an allow-list written by us; a name that is not on the list ends the reading.
 */
import type { Fault } from "./file-fault.ts";

/** Ours to run in place of the Python callable that a pickle names. */
export interface Constructor {
  readonly name: string;
  /** Called for REDUCE and NEWOBJ with the pickle's arguments, which are not to be trusted. */
  readonly construct: (args: readonly unknown[], context: PickleContext) => unknown;
}

export interface PickleContext {
  readonly fault: Fault;
  /** Accounts for bytes that a constructor is about to allocate; a fault past the pickle's own size. */
  readonly spend: (bytes: number) => void;
  /** Accounts for heap bytes of values; a fault past what a file of this size may ask for. */
  readonly charge: (bytes: number) => void;
}

/**
 * What values cost on V8's heap, in bytes, rounded up; scalars live in the slot that holds them. The rounding also keeps
 * every Map and Set under V8's limit of 2^24 entries.
 */
export const heapBytes = {
  slot: 16,
  text: 32,
  view: 200,
  list: 80,
  /** An empty dict or set, and each entry of one. */
  table: 256,
  entry: 64,
  memo: 80,
  /** What a constructor makes. */
  other: 256,
} as const;

/** A value under construction that may receive its state later, by the BUILD opcode. */
export interface Buildable {
  build(state: unknown, context: PickleContext): void;
}

export type AllowList = ReadonlyMap<string, Constructor>;

/** An entry for an allow-list under one or several `module.name` spellings. */
export function allow(
  names: string | readonly string[],
  construct: Constructor["construct"],
): [string, Constructor][] {
  return [names].flat().map((name) => [name, { name, construct }]);
}

/** Names that a pickle may mention as an argument, but not call. */
export const allowNaming = (names: readonly string[]): [string, Constructor][] =>
  names.flatMap((name) =>
    allow(name, (_args, { fault }) => {
      throw fault(`its pickle calls ${name}, which only describes other values`);
    }),
  );

export const isConstructor = (value: unknown): value is Constructor =>
  typeof value === "object" && value !== null && typeof (value as Constructor).construct === "function";

export const isBuildable = (value: unknown): value is Buildable =>
  typeof value === "object" && value !== null && typeof (value as Buildable).build === "function";
