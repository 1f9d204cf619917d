/**
 * The command line: finds the command, runs it, and turns what goes wrong into words and an exit code.
 *
 * 0: done. 1: a bug of ours, with its stack. 2: something the user can fix, in one message without a stack.
 */
import { UserError } from "#registry";
import { commands } from "./commands.ts";

export async function main(argv: readonly string[]): Promise<void> {
  try {
    await runCommand(argv);
  } catch (error) {
    process.exitCode = report(error);
  }
}

async function runCommand([name, ...rest]: readonly string[]): Promise<void> {
  if (name === undefined || name === "help" || name === "--help" || name === "-h") {
    console.log(rest[0] === undefined ? overview() : await usageOf(rest[0]));
  } else if (rest.includes("--help") || rest.includes("-h")) {
    console.log(await usageOf(name));
  } else {
    await (await find(name)).load().then((command) => command.run(rest));
  }
}

async function find(name: string): Promise<NonNullable<(typeof commands)[string]>> {
  const entry = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (entry) return entry;
  throw new UserError(`no command named "${name}"; there are: ${Object.keys(commands).join(", ")}, help`);
}

function overview(): string {
  const width = Math.max(...Object.keys(commands).map((name) => name.length));
  const lines = Object.entries(commands).map(([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}`);
  return ["usage: reverie <command> [arguments]", "", ...lines, "", "reverie help <command> says more"].join(
    "\n",
  );
}

async function usageOf(name: string): Promise<string> {
  const entry = await find(name);
  const command = await entry.load();
  return `${entry.summary}\n\nusage: reverie ${command.usage}`;
}

function report(error: unknown): number {
  if (error instanceof UserError || isArgumentError(error)) {
    console.error(`error: ${error.message}`);
    return 2;
  }
  console.error(error);
  return 1;
}

/** node:util's parseArgs says in its own words which argument it did not expect. */
const isArgumentError = (error: unknown): error is Error =>
  error instanceof Error && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS");
