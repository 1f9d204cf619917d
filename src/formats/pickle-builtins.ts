/** The Python built-ins that pickles of plain data name: collections, and how protocol 2 spells bytes. */
import { type AllowList, allow, allowNaming, heapBytes, type PickleContext } from "./pickle-value.ts";

const builtin = (name: string): string[] => [`builtins.${name}`, `__builtin__.${name}`];

export const builtinConstructors: AllowList = new Map([
  ...allow(["collections.OrderedDict", ...builtin("dict")], makeDict),
  ...allow("collections.defaultdict", (_args, context) => makeDict([], context)),
  ...allow(
    [...builtin("set"), ...builtin("frozenset")],
    (args, context) => new Set(listArgument(args, context)),
  ),
  ...allow([...builtin("list"), ...builtin("tuple"), "torch.Size"], (args, context) => [
    ...listArgument(args, context),
  ]),
  ...allow([...builtin("bytes"), ...builtin("bytearray")], makeBytes),
  ...allow("_codecs.encode", encodeText),
  // The default factory of a defaultdict.
  ...allowNaming([...builtin("int"), ...builtin("float")]),
]);

function makeDict(args: readonly unknown[], context: PickleContext): Map<unknown, unknown> {
  const pairs = listArgument(args, context);
  if (!pairs.every((pair) => Array.isArray(pair) && pair.length === 2)) {
    throw context.fault("its pickle makes a dict from something that is not a list of pairs");
  }
  return new Map(pairs as [unknown, unknown][]);
}

function listArgument(args: readonly unknown[], { fault, spend, charge }: PickleContext): readonly unknown[] {
  const [items = []] = args;
  if (args.length > 1 || !Array.isArray(items)) throw fault("its pickle makes a collection from a non-list");
  spend(items.length);
  charge(items.length * heapBytes.entry);
  return items;
}

function makeBytes(args: readonly unknown[], context: PickleContext): Uint8Array {
  if (args.length === 0) return new Uint8Array(0);
  const [value] = args;
  if (value instanceof Uint8Array) return value;
  return encodeText(args, context);
}

/** `_codecs.encode(text, "latin1")` is how protocol 2 writes bytes: one character for each. */
function encodeText([text, encoding]: readonly unknown[], { fault, spend }: PickleContext): Uint8Array {
  if (typeof text !== "string" || (encoding !== "latin1" && encoding !== "latin-1")) {
    throw fault("its pickle encodes something other than latin1 text");
  }
  spend(text.length);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code > 255) throw fault("its pickle encodes a character that latin1 does not have");
    bytes[i] = code;
  }
  return bytes;
}
