/**
 * Writes src/tensor/aten.generated.ts: TypeScript types for every operator of the libtorch that is built in.
 *
 * Run it after moving to another torch: node --import tsx scripts/generate-aten.ts
 */
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import type { ArgumentInfo, ResultInfo, TorchAddon, TypeInfo } from "../src/tensor/addon.ts";

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));
const addon = createRequire(import.meta.url)(path("../build/torch.node")) as TorchAddon;

const types: Record<string, string> = {
  Tensor: "Tensor",
  int: "number",
  float: "number",
  bool: "boolean",
  Scalar: "Scalar",
  str: "string",
  Device: "Device",
  ScalarType: "DType",
  Layout: "number",
  MemoryFormat: "MemoryFormat",
  Generator: "Generator",
  other: "never",
};
const reserved = new Set(
  "default function in var new delete this with class enum export import return typeof void".split(" "),
);
const safe = (name: string) => (reserved.has(name) ? `${name}_` : name);

function typeText(type: TypeInfo, isResult: boolean): string {
  let text = types[type.kind] ?? "never";
  if (type.list) {
    const element = type.elementOptional ? `(${text} | null)` : text;
    text = isResult ? `${element}[]` : `readonly ${element}[]${type.fixedLength > 0 ? ` | ${text}` : ""}`;
  }
  return type.optional ? `${text} | null` : text;
}

const mayMiss = (argument: ArgumentInfo) => argument.hasDefault || argument.optional;
const named = (argument: ArgumentInfo) =>
  `${argument.name}${mayMiss(argument) ? "?" : ""}: ${typeText(argument, false)}`;

/** Positional parameters first, keyword-only ones in a trailing object; required ones may not follow optional ones. */
function parameterText(args: readonly ArgumentInfo[]): string {
  const positional = args.filter((a) => !a.keywordOnly);
  const keywords = args.filter((a) => a.keywordOnly);
  const needsObject = keywords.some((a) => !mayMiss(a));
  let trailing = !needsObject;
  const texts = positional
    .toReversed()
    .map((a) => {
      trailing = trailing && mayMiss(a);
      return `${safe(a.name)}${trailing ? "?" : ""}: ${typeText(a, false)}`;
    })
    .reverse();
  if (keywords.length > 0)
    texts.push(`options${needsObject ? "" : "?"}: { ${keywords.map(named).join("; ")} }`);
  return texts.join(", ");
}

function resultText(results: readonly ResultInfo[]): string {
  const [only] = results;
  if (!only) return "void";
  if (results.length === 1) return typeText(only, true);
  const allNamed = results.every((r) => r.name);
  return `[${results.map((r) => (allNamed ? `${safe(r.name)}: ` : "") + typeText(r, true)).join(", ")}]`;
}

const methods: string[] = [];
const table: string[] = [];
const rank = (args: readonly ArgumentInfo[]) => args.filter((a) => a.kind === "Tensor").length;
const described = addon
  .operatorNames()
  .filter((entry) => entry.startsWith("aten::"))
  .sort()
  .map((entry) => {
    const [name = "", overload = ""] = entry.split("|");
    return {
      name: name.slice(6),
      overload,
      info: addon.operatorDescribe(addon.operatorFind(name, overload)),
    };
  })
  .filter(({ info }) => !info.arguments.some((a) => a.kind === "other" && !mayMiss(a)))
  .filter(({ info }) => !info.results.some((r) => r.kind === "other"))
  .sort((a, b) =>
    a.name === b.name ? rank(b.info.arguments) - rank(a.info.arguments) : a.name < b.name ? -1 : 1,
  );

for (const { name, overload, info } of described) {
  const parameters = parameterText(info.arguments);
  const result = resultText(info.results);
  const isOut = /out/.test(overload) && info.arguments.some((a) => a.written && a.keywordOnly);
  // The table's functions take every argument by position too, as the fast path does.
  table.push(
    `  ${JSON.stringify(`aten::${name}${overload ? `.${overload}` : ""}`)}: (${parameters}) => ${result};`,
  );
  if (!isOut)
    methods.push(`  ${/^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name)}(${parameters}): ${result};`);
}

writeFileSync(
  path("../src/tensor/aten.generated.ts"),
  `/** Types of libtorch ${addon.torchVersion()}'s operators, from their schemas. Written by scripts/generate-aten.ts; do not edit. */
import type { Device, DType, MemoryFormat, Scalar } from "./dtype.ts";
import type { Generator } from "./generator.ts";
import type { Tensor } from "./tensor.ts";

export interface Aten {
${methods.join("\n")}
}

/** Every overload by its full name, for \`op("aten::add.Tensor")\`. */
export interface OperatorTable {
${table.join("\n")}
}
`,
);
console.log(`${described.length} operators typed`);
