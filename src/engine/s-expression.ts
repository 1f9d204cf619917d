/** Parenthesised lists of words with `;` comments, and the line each came from. */
import { UserError } from "#registry";

export interface Word {
  readonly kind: "word";
  readonly text: string;
  readonly line: number;
}

export interface List {
  readonly kind: "list";
  readonly items: readonly Node[];
  readonly line: number;
}

export type Node = Word | List;

/** Deeper than any task needs; a bound so that hostile nesting ends in a message. */
const deepest = 64;

/** All top-level lists of the text. @param source shown in errors. */
export function parseLists(text: string, source: string): List[] {
  const fail = (line: number, what: string): never => {
    throw new UserError(`${source}:${line}: ${what}`);
  };
  const top: List[] = [];
  const open: { items: Node[]; line: number }[] = [];
  let line = 1;
  for (const [token] of text.matchAll(/\n|;[^\n]*|[()]|[^\s();]+/g)) {
    if (token === "\n") line++;
    else if (token === "(") {
      if (open.push({ items: [], line }) > deepest) fail(line, `lists are nested deeper than ${deepest}`);
    } else if (token === ")") {
      const closed = open.pop() ?? fail(line, 'a ")" without "("');
      const list: List = { kind: "list", ...closed };
      const parent = open.at(-1);
      if (parent) parent.items.push(list);
      else top.push(list);
    } else if (!token.startsWith(";")) {
      const parent = open.at(-1) ?? fail(line, `"${token.slice(0, 40)}" stands outside any list`);
      parent.items.push({ kind: "word", text: token, line });
    }
  }
  const unclosed = open.at(-1);
  if (unclosed) fail(unclosed.line, 'this "(" is never closed');
  return top;
}
