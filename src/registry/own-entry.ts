/**
 * Looks a name from a file or a command line up in one of our tables.
 *
 * `table[name]` would also find what every object inherits: a world called "constructor" exists nowhere, and must not be found.
 */
export const ownEntry = <T>(table: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;
