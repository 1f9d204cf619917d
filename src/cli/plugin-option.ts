/** `--plugin FILE`, which every command takes: files of the user's own code, read before the command begins. */
import { UserError } from "#registry";

const option = "--plugin";
let fromCommandLine: readonly string[] = [];

export interface TakenPlugins {
  readonly given: readonly string[];
  /** The other arguments. */
  readonly others: string[];
}

export function takePlugins(argv: readonly string[]): TakenPlugins {
  const given: string[] = [];
  const others: string[] = [];
  for (let index = 0; index < argv.length; index++) {
    const word = argv[index]!;
    if (word === option) given.push(fileAfter(argv[++index]));
    else if (word.startsWith(`${option}=`)) given.push(fileAfter(word.slice(option.length + 1)));
    else others.push(word);
  }
  fromCommandLine = given;
  return { given, others };
}

function fileAfter(file: string | undefined): string {
  if (file) return file;
  throw new UserError("--plugin needs a file: --plugin ./my-env.ts");
}

/** The same plugins for a command that is proposed. */
export const pluginWords = (): string[] => fromCommandLine.flatMap((file) => [option, file]);
