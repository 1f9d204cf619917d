/**
 * The small language of values on the command line and inside interpolations (Hydra's override grammar).
 *
 * `3`, `1e-5`, `true`, `null`, `'quoted'`, `"quoted"`, `[a, b]`, `{a: 1, b: [2]}`, `${a.b}`, bare text. A comma outside
 * brackets is text here (Hydra would start a sweep over several runs, which we do not have).
 */
import { UserError } from "#registry";
import { readNumber } from "./scalar-text.ts";
import { type ConfigNode, map, type Origin, type Scalar, shortText } from "./tree.ts";
import { mostDepth } from "./tree-extent.ts";

/** Where `${` at `from` closes, past its `}`; understands nesting and quotes. */
export function endOfInterpolation(text: string, from: number): number {
  let depth = 0;
  for (let i = from; i < text.length; i++) {
    const char = text[i];
    if (char === "\\") i++;
    else if (depth > 0 && (char === "'" || char === '"')) i = endOfQuote(text, i) - 1;
    else if (char === "$" && text[i + 1] === "{") {
      depth++;
      i++;
    } else if (char === "{") depth++;
    else if (char === "}" && --depth === 0) return i + 1;
  }
  throw new UserError(`"${shortText(text)}": a \${ is never closed with }`);
}

function endOfQuote(text: string, from: number): number {
  for (let i = from + 1; i < text.length; i++) {
    if (text[i] === "\\") i++;
    else if (text[i] === text[from]) return i + 1;
  }
  throw new UserError(`"${shortText(text)}": a quote is never closed`);
}

/** Splits at `separator` outside brackets, quotes and interpolations; pieces are trimmed. */
export function splitOutside(text: string, separator: string): string[] {
  const pieces: string[] = [];
  let from = 0;
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const char = text[i] ?? "";
    if (char === "\\") i++;
    else if (char === "'" || char === '"') i = endOfQuote(text, i) - 1;
    else if (char === "$" && text[i + 1] === "{") i = endOfInterpolation(text, i) - 1;
    else if ("[{(".includes(char)) depth++;
    else if ("]})".includes(char)) depth--;
    else if (char === separator && depth === 0) {
      pieces.push(text.slice(from, i).trim());
      from = i + 1;
    }
  }
  pieces.push(text.slice(from).trim());
  return pieces;
}

export function parseValue(raw: string, origin: Origin, depth = 0): ConfigNode {
  const text = raw.trim();
  if (depth > mostDepth) throw new UserError(`"${shortText(text)}": lists and maps are nested too deep`);
  if (text.startsWith("[")) {
    return {
      kind: "list",
      items: inside(text, "]").map((item) => parseValue(item, origin, depth + 1)),
      origin,
    };
  }
  if (text.startsWith("{")) return parseDict(text, origin, depth);
  if (/^['"]/.test(text) && endOfQuote(text, 0) === text.length) {
    return { kind: "scalar", value: unquote(text), origin, quoted: true };
  }
  return { kind: "scalar", value: text === "" ? "" : readBare(text), origin };
}

function parseDict(text: string, origin: Origin, depth: number): ConfigNode {
  const entries = inside(text, "}").map((entry) => {
    const [key = "", ...rest] = splitOutside(entry, ":");
    if (rest.length === 0)
      throw new UserError(
        `"${shortText(text)}": expected key: value inside { }, found "${shortText(entry)}"`,
      );
    const name = /^['"]/.test(key) ? unquote(key) : key;
    return [name, parseValue(rest.join(":"), origin, depth + 1)] as const;
  });
  return map(entries, origin);
}

function inside(text: string, close: string): string[] {
  if (!text.endsWith(close)) throw new UserError(`"${shortText(text)}": expected it to end with ${close}`);
  const body = text.slice(1, -1).trim();
  return body === "" ? [] : splitOutside(body, ",");
}

/** Hydra unescapes only the quote itself and the backslashes before it. */
function unquote(text: string): string {
  return text.slice(1, -1).replace(/\\(['"\\])/g, "$1");
}

/** Stricter than YAML, as in Hydra: only true and false are booleans, only decimal digits are numbers. */
function readBare(raw: string): Scalar {
  if (raw.includes("${")) return raw;
  const text = raw.replace(/\\([\\()[\]{}:=, \t])/g, "$1");
  const word = text.toLowerCase();
  if (word === "null") return null;
  if (word === "true" || word === "false") return word === "true";
  if (/^[-+]?(?:nan|inf)$/.test(word)) return Number(word.replace("inf", "Infinity").replace("nan", "NaN"));
  return /^[-+]?(?:0[xb]|0\d)/.test(word) ? text : (readNumber(text) ?? text);
}
