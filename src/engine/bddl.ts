/**
 * Reads the task language of LIBERO: BDDL, a dialect of PDDL's problem files.
 *
 * One file is one task: the stage (`problem`), regions on it, fixtures and objects by category, where they start
 * (`:init`) and what must hold at the end (`:goal`, a conjunction). Names are case-insensitive and lower-cased here.
 * The `:language` sentence is kept, but the benchmark's instruction is taken from the file's name (see the pack).
 */
import { readFileSync } from "node:fs";
import { UserError } from "#registry";
import { type List, type Node, parseLists } from "./s-expression.ts";

export interface Predicate {
  readonly name: string;
  readonly args: readonly string[];
  readonly line: number;
}

export interface Region {
  /** `<target>_<name in the file>`: how `:init` and `:goal` refer to it. */
  readonly name: string;
  readonly target: string;
  /** x0, y0, x1, y1 relative to the workspace's center. */
  readonly ranges: readonly (readonly [number, number, number, number])[];
  readonly yaw: readonly [number, number];
  readonly rgba: readonly [number, number, number, number];
  readonly line: number;
}

export interface Instance {
  readonly name: string;
  readonly category: string;
  readonly line: number;
}

export interface BddlTask {
  readonly file: string;
  readonly problem: string;
  readonly language: string;
  readonly regions: readonly Region[];
  readonly fixtures: readonly Instance[];
  readonly objects: readonly Instance[];
  readonly objectsOfInterest: readonly string[];
  readonly init: readonly Predicate[];
  readonly goal: readonly Predicate[];
}

export function readBddl(path: string): BddlTask {
  return parseBddl(readFileSync(path, "utf8"), path);
}

/** @param file shown in errors. */
export function parseBddl(text: string, file: string): BddlTask {
  const fail: Fail = (line, what) => {
    throw new UserError(`${file}:${line}: ${what}`);
  };
  const [define, ...extra] = parseLists(text.toLowerCase(), file);
  if (define === undefined || word(define.items[0]) !== "define")
    fail(define?.line ?? 1, "expected (define …)");
  if (extra[0]) fail(extra[0].line, "expected one (define …) only");
  const sections = readSections(define!, fail);
  const problem = sections.get("problem") ?? fail(1, "there is no (problem NAME)");
  const goal = sections.get(":goal") ?? fail(1, "there is no (:goal …)");
  const domain = sections.get(":domain");
  if (domain && word(domain.items.at(-1)) !== "robosuite") fail(domain.line, "expected (:domain robosuite)");
  return {
    file,
    problem: word(problem.items[1]) ?? fail(problem.line, "expected (problem NAME)"),
    language: words(sections.get(":language"), fail).join(" "),
    regions: rest(sections.get(":regions")).map((node) => readRegion(asList(node, "a region", fail), fail)),
    fixtures: readInstances(sections.get(":fixtures"), fail),
    objects: readInstances(sections.get(":objects"), fail),
    objectsOfInterest: words(sections.get(":obj_of_interest"), fail),
    init: rest(sections.get(":init")).map((node) => readPredicate(node, fail)),
    goal: readGoal(goal, fail),
  };
}

type Fail = (line: number, what: string) => never;

const known = ["problem", ":domain", ":language", ":requirements", ":regions", ":fixtures", ":objects"];
const knownSections = new Set([...known, ":obj_of_interest", ":scene_properties", ":init", ":goal"]);

function readSections(define: List, fail: Fail): Map<string, List> {
  const sections = new Map<string, List>();
  for (const node of rest(define)) {
    const section = asList(node, "a section", fail);
    const name = word(section.items[0]) ?? fail(section.line, "expected a section such as (:objects …)");
    if (!knownSections.has(name))
      fail(section.line, `unknown section ${name}; there are: ${[...knownSections].join(", ")}`);
    if (sections.has(name)) fail(section.line, `a second section ${name}`);
    sections.set(name, section);
  }
  return sections;
}

const rest = (list: List | undefined): readonly Node[] => list?.items.slice(1) ?? [];
const word = (node: Node | undefined): string | undefined => (node?.kind === "word" ? node.text : undefined);
const asList = (node: Node, what: string, fail: Fail): List =>
  node.kind === "list" ? node : fail(node.line, `expected ${what} in parentheses, found "${node.text}"`);
const words = (list: List | undefined, fail: Fail): string[] =>
  rest(list).map((node) => word(node) ?? fail(node.line, "expected a word, found a list"));

function readRegion(list: List, fail: Fail): Region {
  const shortName = word(list.items[0]) ?? fail(list.line, "a region begins with its name");
  let target: string | undefined;
  const region = {
    ranges: [] as [number, number, number, number][],
    yaw: [0, 0] as [number, number],
    rgba: [0, 0, 1, 0] as [number, number, number, number],
  };
  for (const node of rest(list)) {
    const attribute = asList(node, "an attribute such as (:target NAME)", fail);
    const [key, value] = attribute.items;
    const items = value?.kind === "list" ? value.items : [];
    if (word(key) === ":target") target = word(value);
    else if (word(key) === ":ranges") region.ranges = items.map((item) => numbers(item, 4, fail));
    else if (word(key) === ":yaw_rotation") for (const item of items) region.yaw = numbers(item, 2, fail);
    else if (word(key) === ":rgba") region.rgba = numbers(value ?? attribute, 4, fail);
    else
      fail(attribute.line, `unknown attribute of a region; there are :target, :ranges, :yaw_rotation, :rgba`);
  }
  if (target === undefined) fail(list.line, `region ${shortName} has no (:target NAME)`);
  for (const [x0, y0, x1, y1] of region.ranges)
    if (x1 < x0 || y1 < y0)
      fail(list.line, `region ${shortName}: a range is x0 y0 x1 y1 with x0 <= x1 and y0 <= y1`);
  return { name: `${target}_${shortName}`, target: target!, ...region, line: list.line };
}

/** A list of exactly `count` numbers. Some generators write multiples of pi as products, such as `pi/2` or `-pi`. */
function numbers<T extends number[]>(node: Node, count: T["length"], fail: Fail): T {
  const items = node.kind === "list" ? node.items : [];
  if (items.length !== count) fail(node.line, `expected ${count} numbers in parentheses`);
  return items.map((item) => {
    const value = number(word(item) ?? "");
    return Number.isFinite(value) ? value : fail(item.line, `"${word(item) ?? "("}" is not a number`);
  }) as T;
}

const number = (text: string): number => {
  const [, sign = "", pi, divisor = "1"] = /^(-?)(?:np\.)?(pi)(?:\/([\d.]+))?$/.exec(text) ?? [];
  if (pi) return ((sign ? -1 : 1) * Math.PI) / Number(divisor);
  return /^[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?$/.test(text) ? Number(text) : Number.NaN;
};

/** `a b - category c - other`, in file order. */
function readInstances(list: List | undefined, fail: Fail): Instance[] {
  const found: Instance[] = [];
  let pending: { name: string; line: number }[] = [];
  const items = rest(list);
  for (let i = 0; i < items.length; i++) {
    const node = items[i]!;
    const name = word(node) ?? fail(node.line, "expected a name, found a list");
    if (name !== "-") {
      pending.push({ name, line: node.line });
      continue;
    }
    const category = word(items[++i]) ?? fail(node.line, "expected a category after -");
    found.push(...pending.map((instance) => ({ ...instance, category })));
    pending = [];
  }
  if (pending[0])
    fail(pending[0].line, `${pending[0].name} has no category: write "${pending[0].name} - CATEGORY"`);
  return found;
}

function readPredicate(node: Node, fail: Fail): Predicate {
  const list = asList(node, "a predicate", fail);
  const [name, ...args] = list.items.map(
    (item) => word(item) ?? fail(item.line, "predicates do not nest here"),
  );
  if (name === undefined) fail(list.line, "an empty predicate");
  if (args.length < 1 || args.length > 2) fail(list.line, `(${name} …) takes one or two names`);
  return { name: name!, args, line: list.line };
}

function readGoal(section: List, fail: Fail): Predicate[] {
  const node = section.items[1];
  if (node === undefined || section.items.length > 2) fail(section.line, "expected (:goal (And …))");
  const list = asList(node!, "a goal", fail);
  const goal = word(list.items[0]) === "and" ? rest(list) : [list];
  if (goal.length === 0) fail(list.line, "the goal is empty");
  return goal.map((predicate) => readPredicate(predicate, fail));
}
