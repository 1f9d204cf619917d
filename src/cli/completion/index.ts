/** `completion SHELL`: a script that lets a shell complete commands, options and names, made from the commands' own tables. */
import { UserError } from "#registry";
import type { Command, Described } from "../command.ts";
import { type Completed, type ShellName, scripts } from "./scripts.ts";

export const completionCommand: Command = {
  usage: "completion bash|zsh|fish",
  details: `Prints the script. It completes \`reverie\`; with npx, define: alias reverie="npx reverie"

  bash    reverie completion bash >> ~/.bashrc
  zsh     reverie completion zsh > ~/.reverie-completion && echo 'source ~/.reverie-completion' >> ~/.zshrc
  fish    reverie completion fish > ~/.config/fish/completions/reverie.fish`,
  options: {},
  words: () => Object.keys(scripts),

  async run([shell = "", ...extra]) {
    if (!Object.hasOwn(scripts, shell) || extra.length > 0)
      throw new UserError(`completion for which shell? there are: ${Object.keys(scripts).join(", ")}`);
    process.stdout.write(scripts[shell as ShellName](await completions()));
  },
};

/** What may follow each command: loading them all takes a second, once. */
export async function completions(): Promise<Completed[]> {
  const { commands } = await import("../commands.ts");
  const { builtIn } = await import("../help.ts");
  const own = Object.entries(commands).map(async ([name, entry]) => {
    const { subcommands = {}, ...command } = await entry.load();
    const inner = Object.entries(subcommands).map(([sub, described]) =>
      completed([name, sub], described.summary, described),
    );
    return [completed([name], entry.summary, command, Object.keys(subcommands)), ...inner];
  });
  const told = Object.entries(builtIn).map(([name, { summary }]) => ({
    path: [name],
    summary,
    options: [],
    words: name === "help" ? Object.keys(commands) : [],
  }));
  return [...(await Promise.all(own)).flat(), ...told];
}

function completed(
  path: readonly string[],
  summary: string,
  { options, words }: Pick<Described, "options" | "words">,
  subcommands: readonly string[] = [],
): Completed {
  return {
    path,
    summary,
    options: Object.entries({ ...options, plugin: { type: "string" } }).map(([name, { type }]) => ({
      name: `--${name}`,
      takesValue: type === "string",
    })),
    words: [...subcommands, ...(words?.() ?? [])],
  };
}
