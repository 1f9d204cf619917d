/** What goes between a worker and whoever calls it, and how an error crosses that border as what it is. */
import { Late, loadedPlugins, UserError, WorkerLost, type WorkerProgram, type WorkerSpec } from "#registry";
import { PeerLost } from "#tensor";

export interface Call {
  readonly id: number;
  readonly method: string;
  readonly argument: unknown;
  readonly urgent?: boolean | undefined;
}

export type Reply =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly failure: Failure }
  | { readonly id: number; readonly event: unknown };

/** A sign of life, which answers nobody. */
export const heartbeat: Reply = { id: -1, value: undefined };

/** The first call of all: makes the worker. */
export const openMethod = "$open";

export interface OpenOrder extends WorkerProgram {
  readonly options: unknown;
  /** Files that are read before the module. */
  readonly plugins: readonly string[];
}

export const orderOf = ({ module, factory, options }: WorkerSpec): OpenOrder => ({
  module,
  factory,
  options,
  plugins: loadedPlugins().map(({ path }) => path),
});

/** An error in plain data; of a system error also what `asUserError` reads. */
export interface Failure {
  readonly kind: string;
  readonly message: string;
  readonly stack?: string | undefined;
  readonly hung?: boolean;
  readonly system?: Pick<NodeJS.ErrnoException, "code" | "path" | "syscall">;
}

/** Errors that somebody tells from others by their class. */
const classes: Readonly<Record<string, new (message: string) => Error>> = { UserError, Late, PeerLost };

export function failureOf(thrown: unknown): Failure {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const { name: kind, message, stack } = error;
  if (error instanceof WorkerLost) return { kind, message, stack, hung: error.hung };
  if (error instanceof UserError)
    return { kind: Object.hasOwn(classes, kind) ? kind : "UserError", message, stack };
  const { code, path, syscall } = error as NodeJS.ErrnoException;
  return { kind: "Error", message, stack, ...(code && { system: { code, path, syscall } }) };
}

/** Its stack is the worker's. */
export function errorOf({ kind, message, stack, hung, system }: Failure): Error {
  const error =
    hung === undefined ? new (classes[kind] ?? Error)(message) : new WorkerLost(message, { hung });
  return Object.assign(error, system, stack !== undefined && { stack });
}
