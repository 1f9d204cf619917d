/**
 * A small XML tree: what MJCF files need, and no more.
 *
 * Text between tags, comments, declarations and processing instructions are dropped; MJCF keeps everything in
 * attributes. Entities other than the five predefined and numeric ones, and DTDs, are refused, so a file cannot expand
 * into something larger than itself.
 */
import { readFileSync } from "node:fs";
import { UserError } from "#registry";

export class XmlElement {
  readonly tag: string;
  readonly attributes: Map<string, string>;
  readonly children: XmlElement[];

  constructor(tag: string, attributes: Readonly<Record<string, string>> = {}, children: XmlElement[] = []) {
    this.tag = tag;
    this.attributes = new Map(Object.entries(attributes));
    this.children = children;
  }

  get(name: string): string | undefined {
    return this.attributes.get(name);
  }

  set(name: string, value: string): void {
    this.attributes.set(name, value);
  }

  /** The first direct child with this tag and, if given, this name. */
  child(tag: string, name?: string): XmlElement | undefined {
    return this.children.find((e) => e.tag === tag && (name === undefined || e.get("name") === name));
  }

  /** This element and everything below it, in document order. */
  *walk(): Generator<XmlElement> {
    yield this;
    for (const child of this.children) yield* child.walk();
  }

  /** The first element at or below this one with the tag and name. */
  find(tag: string, name: string): XmlElement | undefined {
    for (const element of this.walk())
      if (element.tag === tag && element.get("name") === name) return element;
    return undefined;
  }

  clone(): XmlElement {
    const copies = this.children.map((child) => child.clone());
    return new XmlElement(this.tag, Object.fromEntries(this.attributes), copies);
  }
}

export function readXml(path: string): XmlElement {
  return parseXml(readFileSync(path, "utf8"), path);
}

/** Deeper than any robot; a bound so that a hostile file ends in a message, not in a full stack. */
const deepest = 500;

/** @param source shown in errors: the file's path. */
export function parseXml(text: string, source: string): XmlElement {
  const fail = (at: number, what: string): never => {
    const line = text.slice(0, at).split("\n").length;
    throw new UserError(`${source}:${line}: ${what}`);
  };
  const open: XmlElement[] = [];
  let root: XmlElement | undefined;
  let at = 0;
  for (;;) {
    const start = text.indexOf("<", at);
    if (start < 0) break;
    const markup = skipMarkup(text, start);
    if (markup !== undefined) {
      at = markup > 0 ? markup : fail(start, "a comment or declaration is not closed");
      continue;
    }
    const end = tagEnd(text, start);
    if (end < 0) fail(start, "a tag is not closed");
    const body = text.slice(start + 1, end);
    at = end + 1;
    if (body.startsWith("/")) {
      const closing = body.slice(1).trim();
      const element = open.pop();
      if (element?.tag !== closing)
        fail(start, `</${closing}> does not close <${element?.tag ?? "nothing"}>`);
      continue;
    }
    const selfClosing = body.endsWith("/");
    const element = parseTag(selfClosing ? body.slice(0, -1) : body, (what) => fail(start, what));
    const parent = open.at(-1);
    if (parent) parent.children.push(element);
    else if (root) fail(start, `a second root element <${element.tag}>`);
    else root = element;
    if (!selfClosing && open.push(element) > deepest)
      fail(start, `elements are nested deeper than ${deepest}`);
  }
  if (open.length > 0) fail(text.length, `<${open.at(-1)?.tag}> is not closed`);
  return root ?? fail(0, "no XML element");
}

/** Where a comment or declaration at `start` ends; 0 if it never does; undefined if it is a tag. */
function skipMarkup(text: string, start: number): number | undefined {
  const ends = { "<!--": "-->", "<?": "?>" };
  for (const [opening, closing] of Object.entries(ends)) {
    if (!text.startsWith(opening, start)) continue;
    const end = text.indexOf(closing, start + opening.length);
    return end < 0 ? 0 : end + closing.length;
  }
  return undefined;
}

/** The index of the tag's `>`, which may also stand inside a quoted value. */
function tagEnd(text: string, start: number): number {
  let quote = "";
  for (let i = start + 1; i < text.length; i++) {
    const c = text.charAt(i);
    if (quote) quote = c === quote ? "" : quote;
    else if (c === '"' || c === "'") quote = c;
    else if (c === ">") return i;
  }
  return -1;
}

const tagName = /^([A-Za-z_][\w.:-]*)/;
const attribute = /^\s+([A-Za-z_][\w.:-]*)\s*=\s*("[^"<]*"|'[^'<]*')/;

function parseTag(body: string, fail: (what: string) => never): XmlElement {
  const [, tag] = tagName.exec(body) ?? fail(`<${body.slice(0, 20)}> is not an element`);
  const element = new XmlElement(tag ?? "");
  let rest = body.slice(element.tag.length);
  while (rest.trim() !== "") {
    const [all, name = "", quoted = ""] =
      attribute.exec(rest) ?? fail(`<${element.tag}>: "${rest.trim().slice(0, 30)}" is not name="value"`);
    if (element.attributes.has(name)) fail(`<${element.tag}> has two attributes named ${name}`);
    element.set(name, decode(quoted.slice(1, -1), fail));
    rest = rest.slice(all.length);
  }
  return element;
}

const entities = new Map(Object.entries({ amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" }));

const decode = (value: string, fail: (what: string) => never): string =>
  value.replace(/&([^;&\s]*);?/g, (all, name: string) => {
    const code = /^#(?:x([0-9a-fA-F]{1,6})|([0-9]{1,7}))$/.exec(name);
    const point = code ? Number.parseInt(code[1] ?? code[2] ?? "", code[1] ? 16 : 10) : -1;
    if (point >= 0 && point <= 0x10ffff) return String.fromCodePoint(point);
    return entities.get(name) ?? fail(`"${all}" is not a known entity`);
  });

const encode = (value: string): string =>
  value.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[c] ?? "&quot;");

export function writeXml(element: XmlElement, indent = ""): string {
  const attributes = [...element.attributes].map(([name, value]) => ` ${name}="${encode(value)}"`).join("");
  const opening = `${indent}<${element.tag}${attributes}`;
  if (element.children.length === 0) return `${opening}/>\n`;
  const inner = element.children.map((child) => writeXml(child, `${indent} `)).join("");
  return `${opening}>\n${inner}${indent}</${element.tag}>\n`;
}
