/**
 * `aten.name(…)`: libtorch's operators under their own names, with the overload chosen by the arguments.
 *
 * Tensor overloads are tried before scalar ones and out= variants are left out; `op("aten::name.overload")` reaches
 * every single one.
 */
import { type ArgumentInfo, addon } from "./addon.ts";
import type { Aten } from "./aten.generated.ts";
import { type AnyFunction, type CompiledOperator, compile, isNamed } from "./operator.ts";
import { Tensor } from "./tensor.ts";

let overloadsByName: Map<string, string[]> | undefined;

function overloadsOf(name: string): string[] {
  if (overloadsByName === undefined) {
    overloadsByName = new Map();
    for (const entry of addon.operatorNames()) {
      const [full = "", overload = ""] = entry.split("|");
      const list = overloadsByName.get(full) ?? [];
      list.push(overload);
      overloadsByName.set(full, list);
    }
  }
  const found = overloadsByName.get(`aten::${name}`);
  if (!found) throw new TypeError(`libtorch has no operator aten::${name}`);
  return found;
}

function accepts(argument: ArgumentInfo, value: unknown): boolean {
  if (value === undefined) return argument.hasDefault || argument.optional;
  if (value === null) return argument.optional;
  if (argument.list) {
    const element = { ...argument, list: false, optional: argument.elementOptional };
    return Array.isArray(value)
      ? value.every((x) => accepts(element, x))
      : argument.fixedLength > 0 && typeof value === "number";
  }
  switch (argument.kind) {
    case "Tensor":
      return value instanceof Tensor;
    case "int":
      return Number.isInteger(value);
    case "float":
      return typeof value === "number";
    case "bool":
      return typeof value === "boolean";
    case "Scalar":
      return (
        ["number", "boolean", "bigint"].includes(typeof value) ||
        typeof (value as { float?: unknown }).float === "number"
      );
    case "str":
    case "Device":
    case "ScalarType":
      return typeof value === "string";
    default:
      return true;
  }
}

function fits({ info }: CompiledOperator, args: readonly unknown[]): boolean {
  const last = args[args.length - 1];
  const named = isNamed(last) ? last : undefined;
  const count = named ? args.length - 1 : args.length;
  if (count > info.arguments.length) return false;
  if (named && !Object.keys(named).every((key) => info.arguments.some((argument) => argument.name === key)))
    return false;
  return info.arguments.every((argument, i) => {
    if (i < count && argument.keywordOnly) return false;
    return accepts(argument, i < count ? args[i] : named?.[argument.name]);
  });
}

function chooser(name: string): AnyFunction {
  const candidates = overloadsOf(name)
    .filter((overload) => !/out|[Dd]imname|names/.test(overload))
    .map((overload) => compile(overload ? `aten::${name}.${overload}` : `aten::${name}`));
  const tensors = (c: CompiledOperator) => c.info.arguments.filter((a) => a.kind === "Tensor").length;
  candidates.sort((a, b) => tensors(b) - tensors(a));
  const [only] = candidates;
  if (candidates.length === 1 && only) return only.flexible;
  return (...args) => {
    const chosen = candidates.find((candidate) => fits(candidate, args));
    if (chosen) return chosen.flexible(...args);
    throw new TypeError(
      `aten::${name}: no overload fits these arguments; there are:\n  ${candidates.map((c) => c.info.schema).join("\n  ")}`,
    );
  };
}

const choosers = new Map<string, AnyFunction>();

export const aten: Aten = new Proxy({} as Aten, {
  get(_, name) {
    if (typeof name !== "string") return undefined;
    let choose = choosers.get(name);
    if (choose === undefined) {
      choose = chooser(name);
      choosers.set(name, choose);
    }
    return choose;
  },
});
