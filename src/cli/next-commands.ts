/** How to go on after a command: command lines that work as they stand, each with what it is for. */
import { pluginWords } from "./plugin-option.ts";

export interface NextCommand {
  /** After `npx reverie`. */
  readonly words: readonly string[];
  readonly why: string;
}

export function nextText(commands: readonly NextCommand[]): string {
  return ["", "go on:", ...commands.map(({ words, why }) => `  ${commandLine(words)}   # ${why}`)].join("\n");
}

export const commandLine = (words: readonly string[]): string =>
  ["npx reverie", ...[...words, ...pluginWords()].map(quoted)].join(" ");

const quoted = (word: string): string =>
  /^[\w./:=+,@~-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
