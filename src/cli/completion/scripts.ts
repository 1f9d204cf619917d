/**
 * What may be typed where, as a script for each shell.
 *
 * The scripts hold all words themselves and start no process: completing must be instant. After the known words, files are offered:
 * configurations and folders may be paths.
 */

export interface Completed {
  /** `["world", "train"]`. */
  readonly path: readonly string[];
  readonly summary: string;
  readonly options: readonly { readonly name: string; readonly takesValue: boolean }[];
  /** Plain arguments: names of configurations, suites, commands of its own. */
  readonly words: readonly string[];
}

export type ShellName = "bash" | "zsh" | "fish";

export const scripts: Readonly<Record<ShellName, (all: readonly Completed[]) => string>> = {
  bash,
  zsh,
  fish,
};

const first = (all: readonly Completed[]): Completed[] => all.filter(({ path }) => path.length === 1);
const optionNames = ({ options }: Completed): string[] => options.map(({ name }) => name);

/** `name|name sub) …` for a case over what was typed so far. */
const cases = (all: readonly Completed[], line: (one: Completed) => string): string =>
  [...all].map((one) => `    "${one.path.join(" ")}") ${line(one)} ;;`).join("\n");

/** Command and subcommand as typed; the latter only where the command has any. */
const pathInPosix = (all: readonly Completed[]): string => {
  const nested = [...new Set(all.filter(({ path }) => path.length > 1).map(({ path }) => path[0]))];
  return nested.length > 0 ? nested.join("|") : "''";
};

function bash(all: readonly Completed[]): string {
  const names = first(all).map(({ path }) => path[0]);
  return `# Completion of reverie for bash, made by: reverie completion bash
_reverie() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path="\${COMP_WORDS[1]}" words="" options=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${names.join(" ")} --help --version" -- "$current"))
    return
  fi
  case "$path" in
    ${pathInPosix(all)}) [ "$COMP_CWORD" -gt 2 ] && path="$path \${COMP_WORDS[2]}" ;;
  esac
  case "$path" in
${cases(all, (one) => `words="${one.words.join(" ")}"; options="${[...optionNames(one), "--help"].join(" ")}"`)}
  esac
  if [[ "$current" == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$current"))
  elif [[ "\${COMP_WORDS[COMP_CWORD-1]}" == --* ]]; then
    COMPREPLY=($(compgen -f -- "$current"))
  else
    COMPREPLY=($(compgen -W "$words" -- "$current") $(compgen -f -- "$current"))
  fi
}
complete -o filenames -F _reverie reverie
`;
}

function zsh(all: readonly Completed[]): string {
  const described = first(all).map(({ path, summary }) => `    ${quoted(`${path[0]}:${summary}`)}`);
  return `#compdef reverie
# Completion of reverie for zsh, made by: reverie completion zsh
_reverie() {
  local -a commands options candidates
  commands=(
${described.join("\n")}
  )
  if (( CURRENT == 2 )); then
    _describe 'command' commands
    return
  fi
  local typed="\${words[2]}"
  case "$typed" in
    ${pathInPosix(all)}) (( CURRENT > 3 )) && typed="$typed \${words[3]}" ;;
  esac
  case "$typed" in
${cases(all, (one) => `candidates=(${one.words.join(" ")}); options=(${[...optionNames(one), "--help"].join(" ")})`)}
  esac
  if [[ "\${words[CURRENT]}" == -* ]]; then
    compadd -- $options
  else
    [[ "\${words[CURRENT-1]}" == --* ]] || compadd -- $candidates
    _files
  fi
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
compdef _reverie reverie
`;
}

function fish(all: readonly Completed[]): string {
  const when = (path: readonly string[]): string => `__reverie_at ${path.join(" ")}`;
  const names = first(all).map(
    ({ path, summary }) =>
      `complete -c reverie -f -n __fish_use_subcommand -a ${path[0]} -d ${quoted(summary)}`,
  );
  const rest = all.flatMap((one) => [
    ...(one.words.length > 0
      ? [`complete -c reverie -n ${quoted(when(one.path))} -a ${quoted(one.words.join(" "))}`]
      : []),
    ...one.options.map(
      ({ name, takesValue }) =>
        `complete -c reverie -n ${quoted(when(one.path))} -l ${name.slice(2)}${takesValue ? " -r" : ""}`,
    ),
  ]);
  return `# Completion of reverie for fish, made by: reverie completion fish
function __reverie_at # COMMAND [SUBCOMMAND]: whether these were typed
  set -l typed (commandline -opc)
  set -e typed[1]
  for i in (seq (count $argv))
    test "$typed[$i]" = "$argv[$i]"; or return 1
  end
end
${[...names, ...rest].join("\n")}
`;
}

const quoted = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "'\\''")}'`;
