/**
 * Any libtorch operator by name and overload, as a TypeScript function.
 *
 * `op("aten::add.Tensor")` compiles, once, an encoder from the operator's schema: it writes the arguments as
 * doubles into the shared buffer, runs the operator, and wraps the results. Arguments are positional in the
 * schema's order, and a trailing plain object gives the rest by name. In-place operators return the tensor they
 * were given.
 */
import {
  type ArgumentInfo,
  addon,
  buffer,
  type OperatorInfo,
  type ResultInfo,
  type TypeInfo,
} from "./addon.ts";
import type { OperatorTable } from "./aten.generated.ts";
import { deviceCode, dtypeCode } from "./dtype.ts";
import type { Tensor } from "./tensor.ts";

// biome-ignore lint/suspicious/noExplicitAny: the operator's type is chosen by its name in OperatorTable
export type AnyFunction = (...args: any[]) => any;

export interface CompiledOperator {
  /** Positional arguments only; the fastest way in. */
  readonly positional: AnyFunction;
  /** Positional arguments, then optionally a plain object of named ones. */
  readonly flexible: AnyFunction;
  readonly info: OperatorInfo;
}

type MakeTensor = (handle: number) => Tensor | null;
let makeTensor: MakeTensor = () => {
  throw new Error("internal: operators are used before the Tensor class is defined");
};
/** tensor.ts tells us how to wrap a handle, so that this file needs no import of the class. */
export const onResult = (make: MakeTensor): void => {
  makeTensor = make;
};
const wrap = (handle: number): Tensor | null => makeTensor(handle);

const compiled = new Map<string, CompiledOperator>();

export function op<Name extends keyof OperatorTable>(name: Name): OperatorTable[Name];
export function op(name: string): AnyFunction;
export function op(name: string): AnyFunction {
  return compile(name).flexible;
}

/** As `op`, but positional arguments only: no check for a trailing object on the hot path. */
export function fast<Name extends keyof OperatorTable>(name: Name): OperatorTable[Name];
export function fast(name: string): AnyFunction;
export function fast(name: string): AnyFunction {
  return compile(name).positional;
}

export function compile(fullName: string): CompiledOperator {
  const known = compiled.get(fullName);
  if (known) return known;
  const dot = fullName.indexOf(".", fullName.indexOf("::"));
  const id =
    dot < 0
      ? addon.operatorFind(fullName, "")
      : addon.operatorFind(fullName.slice(0, dot), fullName.slice(dot + 1));
  const info = addon.operatorDescribe(id);
  const slow = generalCall(id, info);
  const positional = packable(info) ? packedCall(id, info, slow) : (...args: unknown[]) => slow(args);
  const entry = { positional, flexible: withNames(fullName, info, positional), info };
  compiled.set(fullName, entry);
  return entry;
}

// ---- the packed call

const packedResults = new Set(["Tensor", "int", "float", "bool", "Scalar", "ScalarType"]);
const packable = (info: OperatorInfo): boolean =>
  info.arguments.length <= 31 && info.results.every((result) => packedResults.has(result.kind));

/** Source text that writes value `x` of a schema type into the buffer, or null when it needs the general path. */
function encodeOne(type: TypeInfo, x: string): string | null {
  switch (type.kind) {
    case "Tensor":
      return `B[o++]=${x}===null?0:${x}.handle;`;
    case "int":
    case "float":
    case "bool":
    case "Layout":
    case "MemoryFormat":
      return `B[o++]=+${x};`;
    case "Scalar":
      return (
        `if(typeof ${x}==="number"){B[o++]=Number.isSafeInteger(${x})?0:1;B[o++]=${x};}` +
        `else if(typeof ${x}==="boolean"){B[o++]=2;B[o++]=+${x};}` +
        `else if(typeof ${x}==="bigint"){B[o++]=0;B[o++]=Number(${x});}` +
        `else{B[o++]=1;B[o++]=${x}.float;}`
      );
    case "ScalarType":
      return `B[o++]=dtypeCode(${x});`;
    case "Device":
      return `B[o++]=deviceCode(${x});`;
    case "Generator":
      return `B[o++]=${x}.handle;`;
    default:
      return null;
  }
}

function encodeArgument(argument: ArgumentInfo, x: string): string | null {
  if (!argument.list) return encodeOne(argument, x);
  const one = encodeOne(argument, "x");
  if (one === null || argument.kind === "Generator") return null;
  const repeated = argument.fixedLength || 1; // "int[2] stride" also takes one number
  return (
    `if(Array.isArray(${x})){const n=${x}.length;if(o+2*n>=B.length)throw new RangeError("too many values in one call");` +
    `B[o++]=n;for(let i=0;i<n;i++){const x=${x}[i];${one}}}else{const x=${x};B[o++]=${repeated};for(let i=0;i<${repeated};i++){${one}}}`
  );
}

function encodeAll(info: OperatorInfo, names: readonly string[]): string {
  return info.arguments
    .map((argument, i) => {
      const x = names[i] ?? "";
      const code = encodeArgument(argument, x);
      const given = `${x}!==undefined${argument.optional ? `&&${x}!==null` : ""}`;
      if (code === null) return `if(${given})return slow([${names.join()}]);`;
      const required =
        argument.kind === "Tensor" && !argument.list && !argument.optional && !argument.hasDefault;
      return required ? `${code}m|=${2 ** i};` : `if(${given}){m|=${2 ** i};${code}}`;
    })
    .join("\n");
}

function decodeResult(result: ResultInfo, names: readonly string[]): string {
  if (result.sameAs >= 0) return `(o++,${names[result.sameAs]})`;
  const one = result.kind === "Tensor" ? "wrap(B[o++])" : result.kind === "bool" ? "B[o++]!==0" : "B[o++]";
  return result.list ? `(()=>{let n=B[o++];const l=[];while(n-->0)l.push(${one});return l;})()` : one;
}

function packedCall(id: number, info: OperatorInfo, slow: (args: unknown[]) => unknown): AnyFunction {
  const names = info.arguments.map((_, i) => `a${i}`);
  const results = info.results.map((result) => decodeResult(result, names));
  const answer =
    results.length === 0
      ? ""
      : results.length === 1
        ? `return ${results[0]};`
        : `return [${results.join()}];`;
  const body =
    `return function(${names.join()}){let o=3,m=0;\n${encodeAll(info, names)}\n` +
    `B[0]=${id};B[1]=${names.length};B[2]=m>>>0;run();o=0;${answer}}`;
  const make = new Function("B", "run", "wrap", "dtypeCode", "deviceCode", "slow", body);
  return make(buffer, addon.run, wrap, dtypeCode, deviceCode, slow) as AnyFunction;
}

// ---- the general call

/** Tensors, generators, dtypes and devices as the numbers that the addon reads. */
function lower(value: unknown, type: TypeInfo): unknown {
  if (value === undefined || value === null) return value;
  if (type.list && Array.isArray(value)) return value.map((x) => lower(x, { ...type, list: false }));
  if (type.kind === "Tensor" || type.kind === "Generator") return (value as { handle: number }).handle;
  if (type.kind === "ScalarType") return dtypeCode(value as never);
  if (type.kind === "Device") return deviceCode(value as never);
  return value;
}

function generalCall(id: number, info: OperatorInfo): (args: unknown[]) => unknown {
  const raise = (value: unknown, result: ResultInfo): unknown => {
    if (result.kind !== "Tensor") return value;
    return Array.isArray(value) ? value.map((handle) => wrap(handle)) : wrap(value as number);
  };
  return (args) => {
    const types = info.arguments;
    const results = addon.callGeneral(
      id,
      args.map((value, i) => lower(value, types[i] as ArgumentInfo)),
    );
    const raised = results.map((value, i) => raise(value, info.results[i] as ResultInfo));
    return raised.length === 1 ? raised[0] : raised;
  };
}

// ---- named arguments

/** A trailing plain object holds named arguments; `{ float: 1 }` is a scalar and a Tensor is no plain object. */
export function isNamed(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && value.constructor === Object && !("float" in value);
}

function withNames(fullName: string, info: OperatorInfo, positional: AnyFunction): AnyFunction {
  const places = new Map(info.arguments.map((argument, i) => [argument.name, i]));
  return (...args) => {
    const last = args[args.length - 1];
    if (!isNamed(last)) return positional(...args);
    args.pop();
    for (const [name, value] of Object.entries(last)) {
      const place = places.get(name);
      if (place === undefined) {
        throw new TypeError(
          `${fullName} has no argument "${name}"; it has: ${[...places.keys()].join(", ")}`,
        );
      }
      args[place] = value;
    }
    return positional(...args);
  };
}
