/**
 * A YAML file of our own kind, such as a claim: read, changed by overrides, and checked whole against a strict schema.
 *
 * Every mistake is said with its file and line, all of one kind at once: first what the schema refuses, then what must hold between
 * settings. There are no presets and no interpolations: such a file stands for itself.
 */
import type { z } from "zod";
import { UserError } from "#registry";
import { applyOverride, parseOverride } from "./override.ts";
import { type Problem, problem, refuseErrors, schemaProblems } from "./problem.ts";
import type { Finding } from "./rules.ts";
import { keysAt, schemaKnows } from "./schema-keys.ts";
import { nameOf } from "./search-path.ts";
import { type MapNode, parsePath, plain } from "./tree.ts";
import { readYamlFile } from "./yaml-file.ts";

export interface StrictFileOptions<Content> {
  readonly schema: z.ZodType<Content>;
  /** `key=value` from the command line, for the file's own keys. */
  readonly overrides?: readonly string[];
  /** What must hold between settings. */
  readonly rules?: (content: Content) => readonly Finding[];
}

export function readStrictFile<Content>(path: string, options: StrictFileOptions<Content>): Content {
  const { schema, overrides = [], rules = () => [] } = options;
  const name = nameOf(path);
  const { root, problems } = overridden(readYamlFile(path, name).content, overrides, schema);
  const parsed = schema.safeParse(plain(root));
  const refused = parsed.success ? [] : schemaProblems(root, [], parsed.error, (at) => keysAt(schema, at));
  refuseErrors([...problems, ...refused], name);
  if (!parsed.success) throw new Error("internal: a refused file went on");
  const found = rules(parsed.data).map(({ path: at, message, severity = "error" }) =>
    problem(root, severity, parsePath(at), message),
  );
  refuseErrors(found, name);
  return parsed.data;
}

function overridden(
  content: MapNode,
  overrides: readonly string[],
  schema: z.ZodType,
): { readonly root: MapNode; readonly problems: readonly Problem[] } {
  const problems: Problem[] = [];
  let root = content;
  for (const text of overrides) {
    try {
      root = applyOverride(root, parseOverride(text), (path) => schemaKnows(schema, path));
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      problems.push({
        severity: "error",
        path: text.split("=")[0]!,
        place: "command line",
        message: error.message,
      });
    }
  }
  return { root, problems };
}
