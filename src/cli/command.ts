/** What a command of `reverie` is: how it is called, and what it does. Its one-line summary is in commands.ts. */
import type { ParseArgsConfig } from "node:util";
import type { z } from "zod";

/** Options as node:util's parseArgs takes them. Help is checked against them, and completion is made from them. */
export type OptionTable = NonNullable<ParseArgsConfig["options"]>;

/** Schemas under a heading each. */
export type SettingTables = Readonly<Record<string, z.ZodType>>;

/** What is said of a command or of a command's command. */
export interface Described {
  /** The name and arguments, without the program's own name: `doctor [--json]`. */
  readonly usage: string;
  /** What `reverie help` says beyond that: options, then an example or two. */
  readonly details?: string | undefined;
  readonly options: OptionTable;
  /** Settings that are given as `--set KEY=VALUE`: their schemas; those of families are loaded when asked for. */
  readonly settings?: SettingTables | (() => Promise<SettingTables>) | undefined;
  /** Words that its plain arguments may be, for completion; where there are none, they are files. */
  readonly words?: (() => readonly string[]) | undefined;
}

export interface Subcommand extends Described {
  readonly summary: string;
}

export interface Command extends Described {
  /** What can follow the command's name: `world train`. */
  readonly subcommands?: Readonly<Record<string, Subcommand>> | undefined;
  run(argv: string[]): Promise<void>;
}
