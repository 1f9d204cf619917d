/**
 * A schema as a table for people: key, what it takes, default, meaning. The tables of docs/configs.md and the settings in `reverie help`
 * are made with it.
 */
import { z } from "zod";
import { withoutEffect } from "./ineffective.ts";

export function settingsTable(schema: z.ZodType, prefix = ""): string {
  const rows = describe(schema, prefix).map(
    ({ key, takes, fallback, meaning }) =>
      `| \`${key}\` | ${takes} | ${fallback} | ${meaning.replaceAll("|", "\\|")} |`,
  );
  return ["| key | takes | if absent | meaning |", "| --- | --- | --- | --- |", ...rows].join("\n");
}

/** The same for a terminal: one line each, with what is taken and the default where there is no meaning to tell. */
export function settingsText(schema: z.ZodType): string {
  const rows = describe(schema, "").map(({ key, takes, fallback, meaning }) => {
    const absent = fallback === "**needed**" ? "needed" : fallback === "–" ? "" : `= ${fallback}`;
    return [key, absent, meaning || takes].map((text) => text.replaceAll("`", ""));
  });
  const widths = [0, 1].map((column) => Math.min(28, Math.max(...rows.map((row) => row[column]!.length))));
  return rows
    .map(([key = "", absent = "", meaning = ""]) =>
      `  ${key.padEnd(widths[0]!)}  ${absent.padEnd(widths[1]!)}  ${meaning}`.trimEnd(),
    )
    .join("\n");
}

interface Row {
  readonly key: string;
  readonly takes: string;
  readonly fallback: string;
  readonly meaning: string;
}

function describe(schema: z.ZodType, prefix: string): Row[] {
  const json = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as JsonSchema;
  return rowsOf(json, prefix);
}

interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly anyOf?: readonly JsonSchema[];
  readonly items?: JsonSchema;
}

function rowsOf(schema: JsonSchema, prefix: string): Row[] {
  const required = new Set(schema.required ?? []);
  return Object.entries(schema.properties ?? {}).flatMap(([key, value]) => {
    const path = prefix ? `${prefix}.${key}` : key;
    const inner = value.properties ?? value.anyOf?.find((option) => option.properties)?.properties;
    if (inner && Object.keys(inner).length > 0) {
      const nested = value.properties
        ? value
        : (value.anyOf?.find((option) => option.properties) as JsonSchema);
      return rowsOf(nested, path);
    }
    const fallback = required.has(key)
      ? "**needed**"
      : value.default === undefined
        ? "–"
        : code(value.default);
    return [{ key: path, takes: takes(value), fallback, meaning: meaningOf(path, value) }];
  });
}

/** Its description, also one inside "or null"; of a key that does nothing here, why. */
function meaningOf(path: string, { description, anyOf = [] }: JsonSchema): string {
  const why = withoutEffect(path);
  const inner = anyOf.find((option) => option.description !== undefined)?.description;
  return description ?? inner ?? (why === undefined ? "" : `no effect here: ${why}`);
}

function takes(schema: JsonSchema): string {
  if (schema.enum) return schema.enum.map((value) => `\`${value}\``).join(", ");
  if (schema.const !== undefined) return code(schema.const);
  if (schema.anyOf) return [...new Set(schema.anyOf.map(takes))].join(" or ");
  if (schema.type === "array") return `list of ${schema.items ? takes(schema.items) : "anything"}`;
  const words: Readonly<Record<string, string>> = {
    integer: "whole number",
    boolean: "true or false",
    string: "text",
    object: "a block",
  };
  const types = [schema.type ?? "anything"].flat();
  return types.map((type) => words[type] ?? type).join(" or ");
}

function code(value: unknown): string {
  return `\`${JSON.stringify(value)}\``;
}
