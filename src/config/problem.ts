/** What is wrong, or worth knowing, about a configuration: always with the place that wrote it. */
import type { z } from "zod";
import { nearest, UserError } from "#registry";
import {
  commandLine,
  type MapNode,
  nodeAt,
  originAt,
  type Path,
  placeOf,
  plain,
  shortText,
  valueText,
} from "./tree.ts";

export interface Problem {
  /**
   * `error` stops the run; `warning` is a setting without effect or a risk; `note` says what was understood.
   */
  readonly severity: "error" | "warning" | "note";
  readonly path: string; // "env.train.group_size"
  readonly place: string; // "examples/…/x.yaml:12"
  readonly message: string;
}

export function problem(root: MapNode, severity: Problem["severity"], path: Path, message: string): Problem {
  const origin = originAt(root, path);
  const written = origin === commandLine && !nodeAt(root, path) ? root.origin : origin; // what is missing belongs in the file
  return { severity, path: path.join("."), place: placeOf(written), message };
}

export function problemText({ place, path, message }: Problem): string {
  return `${place}: ${shortText(path)}: ${message}`;
}

const mostListed = 30;

/** The errors of a configuration, said together. */
export class ConfigErrors extends UserError {
  readonly errors: readonly Problem[];

  constructor(message: string, errors: readonly Problem[]) {
    super(message);
    this.errors = errors;
  }
}

/** Throws when there is an error among them, with every error on a line of its own. */
export function refuseErrors(problems: readonly Problem[], what: string): void {
  const errors = problems.filter((each) => each.severity === "error");
  if (errors.length === 0) return;
  const count = errors.length === 1 ? "one error" : `${errors.length} errors`;
  const lines = errors.slice(0, mostListed).map((each) => `  ${problemText(each)}`);
  if (errors.length > mostListed) lines.push(`  and ${errors.length - mostListed} more`);
  throw new ConfigErrors(`${what} has ${count}:\n${lines.join("\n")}`, errors);
}

/** Says a schema's complaints in the configuration's words. `at` is where the checked part hangs. */
export function schemaProblems(
  root: MapNode,
  at: Path,
  error: z.ZodError,
  knownKeys: (path: Path) => readonly string[],
): Problem[] {
  return error.issues.flatMap((issue) => issueProblems(root, at, issue, knownKeys));
}

function issueProblems(
  root: MapNode,
  at: Path,
  issue: z.core.$ZodIssue,
  knownKeys: (path: Path) => readonly string[],
): Problem[] {
  const path = [...at, ...issue.path.map(String)];
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => unknownKeyProblem(root, [...path, key], knownKeys(path)));
  }
  const node = nodeAt(root, path);
  if (!node) return [problem(root, "error", path, `is missing; ${expectation(issue)}`)];
  const found = plain(node);
  if (found === "???") return [problem(root, "error", path, `must be set; ${expectation(issue)}`)];
  return [problem(root, "error", path, `${expectation(issue)}, found ${shortText(valueText(found))}`)];
}

export function unknownKeyProblem(root: MapNode, path: Path, known: readonly string[]): Problem {
  const key = path.at(-1) ?? "";
  const guess = key.length > 160 ? undefined : nearest(key, known);
  const few = known.length > 0 && known.length <= 12;
  const hint = guess
    ? `did you mean ${guess}?`
    : few
      ? `there are: ${[...known].sort().join(", ")}`
      : "see docs/configs.md";
  return problem(root, "error", path, `no such setting; ${hint}`);
}

const kinds: Readonly<Record<string, string>> = {
  ...{ int: "a whole number", number: "a number", string: "text", boolean: "true or false" },
  ...{ object: "a block of settings", record: "a block of settings", array: "a list" },
};

function expectation(issue: z.core.$ZodIssue): string {
  if (issue.code === "invalid_value")
    return `expected ${issue.values.map((value) => JSON.stringify(value)).join(" or ")}`;
  if (issue.code === "invalid_type") return `expected ${kinds[issue.expected] ?? issue.expected}`;
  if (issue.code === "too_small")
    return `expected ${issue.inclusive ? "at least" : "more than"} ${issue.minimum}`;
  if (issue.code === "too_big")
    return `expected ${issue.inclusive ? "at most" : "less than"} ${issue.maximum}`;
  if (issue.code === "invalid_union") {
    const options = issue.errors.flat().map(expectation);
    return [...new Set(options)].join(", or ") || issue.message;
  }
  return issue.message;
}
