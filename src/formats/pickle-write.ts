/**
 * Pieces of a pickle, for the few Python objects that published layouts are made of. Protocol 3, no memo.
 *
 * https://github.com/python/cpython/blob/main/Lib/pickletools.py describes the opcodes. A value is a list of byte
 * pieces; joining them in order writes it.
 */
export type Pickled = readonly Uint8Array[];

const opcode = (letters: string): Uint8Array => Buffer.from(letters, "latin1");

function uint32(value: number): Uint8Array {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

export const pickleInteger = (value: number): Pickled => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value);
  return [opcode("J"), bytes];
};

export const pickleText = (value: string): Pickled => {
  const bytes = Buffer.from(value, "utf8");
  return [opcode("X"), uint32(bytes.length), bytes];
};

export const pickleBytes = (value: Uint8Array): Pickled => [opcode("B"), uint32(value.length), value];
export const pickleFlag = (value: boolean): Pickled => [opcode(value ? "\x88" : "\x89")];
export const pickleNone: Pickled = [opcode("N")];
export const pickleTuple = (...parts: Pickled[]): Pickled => [opcode("("), ...parts.flat(), opcode("t")];
export const pickleIntegers = (values: readonly number[]): Pickled =>
  pickleTuple(...values.map(pickleInteger));
export const pickleList = (parts: readonly Pickled[]): Pickled => [
  opcode("]("),
  ...parts.flat(),
  opcode("e"),
];

export const pickleDict = (entries: readonly (readonly [string, Pickled])[]): Pickled => [
  opcode("}("),
  ...entries.flatMap(([key, value]) => [...pickleText(key), ...value]),
  opcode("u"),
];

export const pickleGlobal = (module: string, name: string): Pickled => [opcode(`c${module}\n${name}\n`)];

/** `callable(*arguments)`, where `parameters` is a tuple. */
export const pickleCall = (callable: Pickled, parameters: Pickled): Pickled => [
  ...callable,
  ...parameters,
  opcode("R"),
];

/** `object.__setstate__(state)`. */
export const pickleState = (object: Pickled, state: Pickled): Pickled => [...object, ...state, opcode("b")];

/** Items set on an empty mapping that `mapping` makes. */
export const pickleItems = (mapping: Pickled, entries: readonly (readonly [string, Pickled])[]): Pickled => [
  ...mapping,
  opcode("("),
  ...entries.flatMap(([key, value]) => [...pickleText(key), ...value]),
  opcode("u"),
];

/** What lies outside the pickle, found by its id. */
export const pickleOutside = (id: Pickled): Pickled => [...id, opcode("Q")];

export const pickleFile = (value: Pickled): Uint8Array =>
  Buffer.concat([opcode("\x80\x03"), ...value, opcode(".")]);
