/**
 * The command line: finds the command, runs it, and turns what goes wrong into words and an exit code.
 *
 * 0: done. 1: a bug of ours, with its stack. 2: something the user can fix, in one message without a stack.
 */
import { readFileSync } from "node:fs";
import { asUserError, inheritPlugins, loadPlugins } from "#registry";
import { findCommand, helpFor } from "./help.ts";
import { takePlugins } from "./plugin-option.ts";

export async function main(argv: readonly string[]): Promise<void> {
  // Who reads along may be gone (a closed terminal, a pipe): that must not take a run with it.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
  endWithStarter();
  try {
    await runCommand(argv);
  } catch (error) {
    process.exitCode = report(error, argv[0]);
  }
}

/** A program that starts a command with a channel to itself (a claim) wants it to save and end when that program is gone. */
function endWithStarter(): void {
  if (!process.channel) return;
  process.once("disconnect", () => process.kill(process.pid, "SIGTERM"));
  process.channel.unref(); // waiting for that keeps no command alive
}

async function runCommand([name, ...rest]: readonly string[]): Promise<void> {
  if (name === undefined || name === "help" || name === "--help" || name === "-h") {
    console.log(await helpFor(rest.filter((word) => !word.startsWith("-"))));
  } else if (name === "--version" || name === "version") {
    console.log(`reverie ${version()}`);
  } else if (rest.includes("--help") || rest.includes("-h")) {
    console.log(await helpFor([name, ...rest.slice(0, 1).filter((word) => !word.startsWith("-"))]));
  } else {
    const entry = findCommand(name); // a misspelt command reads no code
    const { given, others } = takePlugins(rest);
    await inheritPlugins();
    await loadPlugins(given);
    const command = await entry.load();
    await command.run(others);
  }
}

function version(): string {
  const file = new URL("../../package.json", import.meta.url);
  return (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version;
}

function report(error: unknown, command: string | undefined): number {
  const message = asUserError(error)?.message ?? argumentFault(error, command);
  if (message === undefined) {
    console.error(error);
    return 1;
  }
  console.error(`error: ${message}`);
  return 2;
}

/** What node:util's parseArgs found wrong, without its advice on dashes. */
function argumentFault(error: unknown, command: string | undefined): string | undefined {
  if (!(error instanceof Error && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS")))
    return undefined;
  const [, option] = /^Option '(\S+?)['\s].*ambiguous/.exec(error.message) ?? [];
  if (option) return `${option} needs a value; one that begins with a dash is written ${option}=-1`;
  const [sentence = ""] = error.message.split(/\. |\n/);
  return `${sentence.replace(/\.$/, "")}; reverie help ${command ?? ""} lists the options`;
}
