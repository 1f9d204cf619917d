/** `help [COMMAND [SUBCOMMAND]]`: what there is, or how one is called, with every setting that its schemas know. */
import { nearest, UserError } from "#registry";
import type { Described } from "./command.ts";
import { type CommandEntry, commands } from "./commands.ts";

/** Those that need no loading: main.ts answers them itself. */
export const builtIn: Readonly<Record<string, { readonly summary: string; readonly usage: string }>> = {
  help: {
    summary: "say how a command is called, with all that it takes",
    usage: "help [COMMAND [SUBCOMMAND]]",
  },
  version: { summary: "say which version this is", usage: "version" },
};

/** Every name that may follow `reverie`. */
export const commandNames: readonly string[] = [...Object.keys(commands), ...Object.keys(builtIn)];

export function findCommand(name: string): CommandEntry {
  const entry = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (entry) return entry;
  throw unknown("command", name, commandNames);
}

export async function helpFor([name, sub, ...extra]: readonly string[]): Promise<string> {
  if (name === undefined) return overview();
  const own = Object.hasOwn(builtIn, name) ? builtIn[name] : undefined;
  if (own) return `${own.summary}\n\nusage: reverie ${own.usage}`;
  const entry = findCommand(name);
  const command = await entry.load();
  const { subcommands = {} } = command;
  // What follows a command without commands of its own is an argument of it: `reverie train quickstart --help`.
  if (sub === undefined || (Object.keys(subcommands).length === 0 && extra.length === 0))
    return helpText(entry.summary, command);
  const subcommand = Object.hasOwn(subcommands, sub) ? subcommands[sub] : undefined;
  if (!subcommand) throw unknown(`${name} command`, sub, Object.keys(subcommands));
  return helpText(subcommand.summary, subcommand);
}

async function helpText(summary: string, { usage, details, settings }: Described): Promise<string> {
  const { settingsText } = await import("#config");
  const schemas = typeof settings === "function" ? await settings() : settings;
  const tables = Object.entries(schemas ?? {}).map(
    ([heading, schema]) => `${heading} (--set KEY=VALUE):\n${settingsText(schema)}`,
  );
  return [summary, `usage: reverie ${usage}`, details, ...tables].filter(Boolean).join("\n\n");
}

function overview(): string {
  const all = { ...commands, ...builtIn };
  const width = Math.max(...Object.keys(all).map((name) => name.length));
  const lines = Object.entries(all).map(([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}`);
  return [
    "usage: reverie <command> [arguments]",
    "",
    ...lines,
    "",
    "reverie help <command> says more; --plugin FILE, with any command, adds your own code: docs/extend/README.md",
  ].join("\n");
}

function unknown(kind: string, name: string, names: readonly string[]): UserError {
  const guess = nearest(name, names);
  const list = names.length > 0 ? `there are: ${names.join(", ")}` : "there is none";
  return new UserError(`no ${kind} named "${name}"; ${guess ? `did you mean ${guess}? ` : ""}${list}`);
}
