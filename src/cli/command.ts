/** What a command of `reverie` is: how it is called, and what it does. Its one-line summary is in commands.ts. */
export interface Command {
  /** The name and arguments, without the program's own name: `doctor [--json]`. */
  readonly usage: string;
  /** What `reverie help` says beyond that: options, then an example or two. */
  readonly details?: string;
  run(argv: string[]): Promise<void>;
}
